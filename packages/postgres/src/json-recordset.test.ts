import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { createLog } from "@payment-links/runtime";
import { createJsonRecordset } from "./json-recordset.ts";
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

const Row = z.object({ name: z.string(), amount: z.string(), at: z.date(), many: z.string() });

test("returns rows unchanged and in order, including every digit, quote and null", async () => {
  const digits = "123456789012345678901234567890.000000000000000001";
  const specialText = `it's "quoted", \\ {NULL},\n\t${String.fromCodePoint(0x202e)}😀`;
  const at = new Date("2026-11-22T20:00:00.123Z");
  const rows = [
    [specialText, digits, at.toISOString(), 2 ** 53 - 1, true],
    ["", "0", at.toISOString(), 0, null],
  ];
  const createRows = createJsonRecordset(["text", "numeric", "timestamptz", "int8", "bool"]);
  const storedRows = await pool.any(sql.type(Row.extend({ is: z.boolean().nullable() }))`
    SELECT name, amount, at, many, "is" FROM (${createRows(rows)}) AS found (name, amount, at, many, "is")
  `);
  expect(storedRows).toEqual([
    { name: specialText, amount: digits, at, many: "9007199254740991", is: true },
    { name: "", amount: "0", at, many: "0", is: null },
  ]);
});
