import { pageSize } from "@payment-links/contracts";

/**
 * Shows a page of the list envelope (rule API-5) from one row more than fits: without that row nothing
 * follows, and `nextOffset` is null.
 */
export const serializePage = <Row, SerializedRow>(
  rows: readonly Row[],
  offset: number,
  serializeRow: (row: Row) => SerializedRow,
) => ({
  data: rows.slice(0, pageSize).map(serializeRow),
  limit: pageSize,
  offset,
  nextOffset: rows.length > pageSize ? offset + pageSize : null,
});
