import { type FragmentSqlToken, sql } from "slonik";
import * as z from "zod";
import { Amount } from "@payment-links/contracts";

/** A `bigint` column whose values are safe integers. The driver returns them as text. */
export const Int8 = z.string().transform(Number).pipe(z.int());

/** The types of columns that do not follow from the row's schema. */
export type ColumnTypes<Shape> = { readonly [Key in keyof Shape]?: string };

/** The values of a row. Those that can be undefined can also be missing, and count as null. */
export type RowValues<Shape extends z.ZodRawShape> = Values<z.output<z.ZodObject<Shape>>>;

type Values<Row> = {
  readonly [Key in keyof Row as undefined extends Row[Key] ? never : Key]: Row[Key];
} & { readonly [Key in keyof Row as undefined extends Row[Key] ? Key : never]?: Row[Key] };

/** Returns the name of the column that a key belongs to. */
export const toColumnName = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Creates a function that passes rows to a statement as one JSON parameter, for use as `SELECT …
 * FROM`. The columns have the order of the schema, and their names are its keys in snake case.
 * Texts with NUL or half a surrogate pair are rejected.
 *
 * The planner does not know the length of the document, so a named statement keeps its plan. In a
 * lateral query with a `LIMIT`, each row is looked up individually, whatever table size the plan
 * assumed. One array parameter per column would need 50 % more client CPU, because every value must
 * be escaped. The column list is built only once, because for a few rows that takes most of the
 * time.
 */
export const createJsonRecordset = <Shape extends z.ZodRawShape>(
  row: z.ZodObject<Shape>,
  types: ColumnTypes<NoInfer<Shape>> = {},
): ((rows: readonly RowValues<Shape>[]) => FragmentSqlToken) => {
  const keys = Object.keys(row.shape) as (keyof RowValues<Shape> & keyof Shape & string)[];
  const columns = sql.join(
    keys.map((key, index) => {
      const value = sql.fragment`(row ->> ${sql.literalValue(String(index))}::int)`;
      const type = sql.identifier([types[key] ?? getColumnType(row.shape[key])]);
      return sql.fragment`${value}::${type} AS ${sql.identifier([toColumnName(key)])}`;
    }),
    sql.fragment`, `,
  );
  const select = sql.fragment`SELECT ${columns} FROM`;
  return (rows) => {
    const document = JSON.stringify(rows.map((values) => keys.map((key) => toJson(values[key]))));
    return sql.fragment`${select} jsonb_array_elements(${document}::jsonb) AS row`;
  };
};

/**
 * Converts dates, because `JSON.stringify` takes twice as long for them. It writes amounts with every
 * digit.
 */
const toJson = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

const getColumnType = (schema: z.core.SomeType | undefined): string => {
  if (schema === Amount) return "numeric";
  if (schema === Int8) return "int8";
  if (schema instanceof z.ZodNullable) return getColumnType(schema.unwrap());
  if (schema instanceof z.ZodPipe) return getColumnType(schema.in);
  if (schema instanceof z.ZodNumber) return "int4";
  if (schema instanceof z.ZodBoolean) return "bool";
  if (schema instanceof z.ZodDate) return "timestamptz";
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return "text";
  throw new TypeError("the type of a column does not follow from its schema");
};
