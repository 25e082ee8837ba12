import { expect, test } from "@jest/globals";
import { Client } from "pg";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { settlementListenerMigration } from "@payment-links/settlement-listener";
import { fillPollTables, measurePolls } from "@payment-links/settlement-listener/testing/polls";

/** Designed for `ROWS=100000000`. Postgres needs 1.6 KB of disk space per row. */
const rowCount = Number(process.env["ROWS"] ?? 300_000);
const buffersMax = 200;
const hoursMax = 6;

// Detects polls that become slower with the number of past payments, for example because of dead
// rows.
test(
  `with ${rowCount} payments and transfers, a fifth of them dead, no poll of settlement-listener reads ${buffersMax} buffers`,
  async () => {
    const database = await createTestDatabase([settlementListenerMigration]);
    const client = new Client({ connectionString: database.adminUrl });
    try {
      await client.connect();
      await client.query(`SET search_path = ${settlementListenerMigration.schema}`);
      const printLine = (line: string) => rowCount > 1_000_000 && process.stderr.write(`${line}\n`);
      const { deletedPerSecond } = await fillPollTables(client, rowCount, printLine);
      const buffersByQuery = await measurePolls(client, rowCount);
      printLine(
        JSON.stringify(
          { forgottenPerSecond: deletedPerSecond, ...Object.fromEntries(buffersByQuery) },
          undefined,
          2,
        ),
      );
      expect([...buffersByQuery].filter(([, count]) => count >= buffersMax)).toEqual([]);
      // Spam transfers arrive at 10 per second.
      expect(deletedPerSecond).toBeGreaterThan(100);
    } finally {
      await client.end();
      await database.drop();
    }
  },
  hoursMax * 3_600_000,
);
