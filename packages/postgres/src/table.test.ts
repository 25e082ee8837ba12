import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { Amount, Decimal } from "@payment-links/contracts";
import { createLog } from "@payment-links/runtime";
import { Int8 } from "./json-recordset.ts";
import { type Pool, connectPool } from "./pool.ts";
import { sqlVoid } from "./sql-void.ts";
import { defineTable } from "./table.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase([]);
  pool = await connectPool({
    url: database.adminUrl,
    applicationName: "tables",
    connectionsMax: 1,
    log: createLog({ service: "test", level: "error" }),
  });
  await pool.query(sqlVoid`
    CREATE TABLE things (
      id text PRIMARY KEY, block_number int8, total_amount numeric, is_open bool, kind text,
      seen_at timestamptz, attempts int4, tags jsonb
    )
  `);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const Row = z.object({
  id: z.string(),
  blockNumber: Int8.nullable(),
  totalAmount: Amount,
  isOpen: z.boolean(),
  kind: z
    .enum(["large", "small"])
    .nullable()
    .transform((kind) => kind ?? undefined),
  seenAt: z.date(),
  attempts: z.int(),
  tags: z.array(z.string()),
});
const table = defineTable(Row, { from: "things", types: { tags: "jsonb" } });

const row: z.output<typeof Row> = {
  id: "a",
  blockNumber: 2 ** 53 - 1,
  totalAmount: new Decimal(`${"9".repeat(60)}.${"0".repeat(17)}1`),
  isOpen: true,
  kind: "large",
  seenAt: new Date("2026-11-22T20:00:00.123Z"),
  attempts: 3,
  tags: ["one", "two"],
};

test("rows are inserted, updated and selected without a list of their columns", async () => {
  await pool.query(sqlVoid`INSERT INTO things (${table.names}) ${table.rows([row])}`);
  const { kind: _kind, ...changedRow } = { ...row, isOpen: false, blockNumber: null };
  await pool.query(sqlVoid`
    INSERT INTO things (${table.names}) ${table.rows([changedRow, { ...row, id: "b" }])}
    ON CONFLICT (id) DO UPDATE SET ${table.assignFrom("excluded")}
  `);
  expect(
    await pool.any(sql.type(Row)`
      SELECT ${table.columns} FROM things JOIN (${table.rows([row])}) AS wanted
        ON things.seen_at = wanted.seen_at
      ORDER BY things.id
    `),
  ).toEqual([
    { ...changedRow, kind: undefined },
    { ...row, id: "b" },
  ]);
});

test("an expression replaces the column of its key", async () => {
  const { columns } = defineTable(Row.pick({ id: true, isOpen: true }), {
    expressions: { isOpen: sql.fragment`${"x"} = ANY (ARRAY['x'])` },
  });
  expect(columns).toMatchObject({ sql: expect.stringContaining('AS "isOpen"'), values: ["x"] });
});

test("a type that does not follow from the schema must be given", () => {
  expect(() => defineTable(Row).rows([row])).toThrow("the type of a column");
});

test("unknown keys and missing values do not compile", () => {
  // @ts-expect-error -- the row has no such key
  defineTable(Row, { expressions: { isClosed: sql.fragment`true` } });
  // @ts-expect-error -- the row has no such key
  defineTable(Row, { types: { labels: "jsonb" } });
  const { id: _id, ...incompleteRow } = row;
  // @ts-expect-error -- `id` is missing
  table.rows([incompleteRow]);
});
