import { pageSize } from "@payment-links/contracts";

/**
 * Serializes a page in the list envelope (rule API-5). If there is a next page, `rows` contains one
 * row more than a page has. Otherwise, `nextOffset` is null.
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
