import { type FragmentSqlToken, sql } from "slonik";

type ColumnValue = string | number | boolean | null;

/**
 * Creates a function that writes rows as one JSON parameter for `SELECT … FROM`, with values in the
 * order of their column types. Amounts must be strings, so that they stay exact.
 *
 * The planner never knows the length of the document, so a named statement keeps its plan. In a
 * lateral query with a `LIMIT`, each row is looked up individually, whatever table size the plan
 * assumed. An array per column would cost the client half as much again for escaping. The columns
 * are rendered only once, because for a few rows that takes longer than everything else.
 */
export const createJsonRecordset = (
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
