import { type FragmentSqlToken, sql } from "slonik";
import type * as z from "zod";
import {
  type ColumnTypes,
  type RowValues,
  createJsonRecordset,
  toColumnName,
} from "./json-recordset.ts";

type Options<Shape> = {
  /** The table or alias that the selected columns belong to, for queries with several tables. */
  from?: string;
  /** The SQL of keys that are not selected from the column of their name. */
  expressions?: { readonly [Key in keyof Shape]?: FragmentSqlToken };
  types?: ColumnTypes<Shape>;
};

/** The columns of a row, as SQL for use in statements. */
type Table<Shape extends z.ZodRawShape> = {
  /** The list for `SELECT` and `RETURNING`. Each column has the name of its key. */
  columns: FragmentSqlToken;
  /** The list for `INSERT`. */
  names: FragmentSqlToken;
  /** Builds the list for `UPDATE` that sets each column to that of another row. */
  assignFrom: (source: string) => FragmentSqlToken;
  /** Passes rows to a statement ({@link createJsonRecordset}). */
  rows: (rows: readonly RowValues<Shape>[]) => FragmentSqlToken;
};

/**
 * Derives a row's columns from its schema, in its order. Each key belongs to the column with the
 * same name in snake case. Call it once per module, because it builds texts.
 */
export const defineTable = <Shape extends z.ZodRawShape>(
  row: z.ZodObject<Shape>,
  { from, expressions, types }: Options<NoInfer<Shape>> = {},
): Table<Shape> => {
  const keys = Object.keys(row.shape) as (keyof Shape & string)[];
  // One text instead of a list, because slonik would join the list on every use.
  const join = (build: (key: keyof Shape & string, name: string) => FragmentSqlToken) =>
    sql.fragment`${sql.join(
      keys.map((key) => build(key, toColumnName(key))),
      sql.fragment`, `,
    )}`;
  // Built at the first use, because a row that is only read can have columns whose type does not
  // follow from its schema.
  let createRows: Table<Shape>["rows"] | undefined;
  return {
    columns: join((key, name) => {
      const column = sql.identifier(from === undefined ? [name] : [from, name]);
      return sql.fragment`${expressions?.[key] ?? column} AS ${sql.identifier([key])}`;
    }),
    names: join((_key, name) => sql.fragment`${sql.identifier([name])}`),
    assignFrom: (source) =>
      join(
        (_key, name) => sql.fragment`${sql.identifier([name])} = ${sql.identifier([source, name])}`,
      ),
    rows: (rows) => (createRows ??= createJsonRecordset(row, types))(rows),
  };
};
