import { type FragmentSqlToken, sql } from "slonik";

type ColumnValue = string | number | boolean | null;

/**
 * Creates a function that passes rows to a statement as one JSON parameter, for use as `SELECT …
 * FROM`. The values of a row are in the order of the column types. Amounts must be strings, so that
 * they stay exact. Texts with NUL or half a surrogate pair are rejected.
 *
 * The planner does not know the length of the document, so a named statement keeps its plan. In a
 * lateral query with a `LIMIT`, each row is looked up individually, whatever table size the plan
 * assumed. One array parameter per column would need 50 % more client CPU, because every value must
 * be escaped. The column list is built only once, because for a few rows that takes most of the
 * time.
 */
export const createUntypedRecordset = (
  columnTypes: readonly string[],
): ((rows: readonly (readonly ColumnValue[])[]) => FragmentSqlToken) => {
  const columns = sql.join(
    columnTypes.map(
      (type, index) =>
        sql.fragment`(row ->> ${sql.literalValue(String(index))}::int)::${sql.identifier([type])}`,
    ),
    sql.fragment`, `,
  );
  return (rows) => sql.fragment`
    SELECT ${columns} FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) AS row
  `;
};
