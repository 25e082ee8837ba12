import { type FragmentSqlToken, sql } from "slonik";

type ColumnValue = string | number | boolean | null;

/**
 * How rows of such columns are written as one parameter, a JSON document, for `SELECT … FROM`: values by
 * their columns' types, in order. The planner never knows how long a document is, so a named statement
 * keeps its plan; in a lateral query with a `LIMIT` each row is looked up by itself, whatever size that
 * plan took the table to have. An array for each column costs the client half as much again for escaping.
 * Amounts are texts in it, so that they stay exact. The columns are written once, as that takes longer than
 * all else about a few rows.
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
