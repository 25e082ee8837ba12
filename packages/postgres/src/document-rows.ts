import { type FragmentSqlToken, sql } from "slonik";

type Value = string | number | boolean | null;

/**
 * Rows as one parameter, a JSON document, for `SELECT … FROM`: values by their columns' types, in order.
 * An array for each column costs the client half as much again for escaping. Amounts are texts in it,
 * so that they stay exact.
 */
export const documentRows = (
  rows: readonly (readonly Value[])[],
  columnTypes: readonly string[],
): FragmentSqlToken => {
  const columns = columnTypes.map(
    (type, index) =>
      sql.fragment`(row ->> ${sql.literalValue(String(index))}::int)::${sql.identifier([type])}`,
  );
  return sql.fragment`
    SELECT ${sql.join(columns, sql.fragment`, `)} FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) AS row
  `;
};
