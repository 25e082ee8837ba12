import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { createLog } from "@payment-links/runtime";
import { Int8, createJsonRecordset } from "./json-recordset.ts";
import { type Pool, connectPool } from "./pool.ts";
import { type TestDatabase, createTestDatabase } from "./testing.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase([]);
  pool = await connectPool({
    url: database.adminUrl,
    applicationName: "document rows",
    connectionsMax: 1,
    log: createLog({ service: "test", level: "error" }),
  });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const Row = z.object({
  name: z.string(),
  amount: z.string(),
  at: z.date(),
  many: Int8,
  is: z.boolean().nullable(),
});

test("returns rows unchanged and in order, including every digit, quote and null", async () => {
  const digits = "123456789012345678901234567890.000000000000000001";
  const specialText = `it's "quoted", \\ {NULL},\n\t${String.fromCodePoint(0x202e)}😀`;
  const at = new Date("2026-11-22T20:00:00.123Z");
  const rows = [
    { name: specialText, amount: digits, at, many: 2 ** 53 - 1, is: true },
    { name: "", amount: "0", at, many: 0, is: null },
  ];
  const createRows = createJsonRecordset(Row, { amount: "numeric" });
  expect(await pool.any(sql.type(Row)`SELECT * FROM (${createRows(rows)}) AS found`)).toEqual(rows);
});
