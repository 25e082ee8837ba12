import * as z from "zod";
import { type Pool, type Transaction } from "@payment-links/postgres";
import { deleteBlocksBelow, findBlock } from "../store/chain-blocks.ts";
import {
  assignTransfers,
  deleteUnmatchedTransfers,
  listStoredTransfers,
} from "../store/chain-transfers.ts";
import {
  listDueTransfers,
  listMissingNonces,
  listOrphanedTransfers,
} from "../store/open-transfers.ts";
import { readBacklog } from "../store/open-payments.ts";
import { lockPayments, releaseDeferredPayments } from "../store/payments.ts";
import { countRescans, findOldestRescan } from "../store/rescans.ts";
import {
  listWatchers,
  readLeaseUntil,
  readProgress,
  renewLeadership,
  acquireLeadership,
} from "../store/watchers.ts";

/** The methods of a `pg` client that are used here. */
type Client = {
  query: (
    text: string,
    values?: unknown[],
  ) => Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
};

const chainId = "8453";
const source = `evm:${chainId}`;
const transfersPerBlock = 10;
const insertBatchSize = 500_000;
const deleteBatchSize = 5_000;
/**
 * The number of rows that `open_payments` loses in one minute at 50 settlements per second, and
 * that vacuum then removes.
 */
const lastMinuteCount = 3_000;

/**
 * Fills `payments` and `chain_transfers` with `rowCount` rows each. A fifth of the payments is then
 * updated, and autovacuum does not remove the resulting dead rows. Then inserts spam and deletes it
 * like the service does. Returns the number of deleted rows per second. The client must be a
 * superuser whose search path is the service's schema.
 */
export const fillPollTables = async (
  client: Client,
  rowCount: number,
  reportProgress: (line: string) => void,
): Promise<{ deletedPerSecond: number }> => {
  const head = Math.ceil(rowCount / transfersPerBlock);
  await client.query(`
    ALTER TABLE payments SET (autovacuum_enabled = false);
    ALTER TABLE chain_transfers SET (autovacuum_enabled = false);
    SET synchronous_commit = off;
    INSERT INTO watchers (chain_id, fencing_token, lease_until, first_block, scanned_to, finalized_to)
    VALUES ('${chainId}', 1, now() + interval '1 day', 0, ${head}, ${head});
    INSERT INTO chain_blocks VALUES ('${chainId}', ${head}, '0x', '0x', now());
  `);
  // Disables triggers and foreign keys. The triggers are not needed, because these payments have
  // long been final.
  await client.query("SET session_replication_role = replica");
  const spamCount = Math.floor(rowCount / 5);
  for (let firstRow = 0; firstRow < rowCount; firstRow += insertBatchSize) {
    const lastRow = Math.min(firstRow + insertBatchSize, rowCount) - 1;
    await client.query(insertPayments({ first: firstRow, last: lastRow, status: "settled" }));
    await client.query(insertTransfers({ first: firstRow, last: lastRow }));
    reportProgress(`${lastRow + 1} of ${rowCount} payments and transfers`);
  }
  for (let firstRow = 0; firstRow < spamCount; firstRow += insertBatchSize) {
    const lastRow = Math.min(firstRow + insertBatchSize, spamCount) - 1;
    await client.query(insertSpam({ first: firstRow, last: lastRow, age: "48 hours" }));
  }
  await client.query(insertSpam({ first: spamCount, last: spamCount + 20_000, age: "1 hour" }));
  reportProgress("updating a fifth of the payments");
  await client.query("UPDATE payments SET version = version + 1 WHERE seq % 5 = 0");
  await client.query("SET session_replication_role = origin");
  await fillOpenPayments(client, rowCount);
  await client.query("ANALYZE payments; ANALYZE chain_transfers; ANALYZE open_payments");

  reportProgress(`${spamCount} unrequested transfers are deleted`);
  const startedAtMs = performance.now();
  const transaction: Transaction = createExplainingPool(client) as never;
  const bounds = { seenBefore: new Date(Date.now() - 86_400_000), finalizedTo: head };
  let deletedCount = 0;
  for (let batch = 0; batch <= spamCount / deleteBatchSize; batch += 1) {
    const deletion = { ...bounds, countMax: deleteBatchSize };
    deletedCount += await deleteUnmatchedTransfers(transaction, chainId, deletion);
  }
  if (deletedCount !== spamCount)
    throw new Error(`${deletedCount} of ${spamCount} rows were deleted`);
  const seconds = (performance.now() - startedAtMs) / 1000;
  return { deletedPerSecond: Math.round(spamCount / seconds) };
};

/**
 * Inserts open payments (new, orphaned and deferred) and some payments that have just become final.
 */
const fillOpenPayments = async (client: Client, rowCount: number): Promise<void> => {
  const toRowRange = (offset: number, count: number) => ({
    first: rowCount + offset,
    last: rowCount + offset + count - 1,
  });
  const endedRows = toRowRange(0, lastMinuteCount);
  // These payments were received while one of two providers was unavailable.
  await client.query(insertTransfers({ ...endedRows, nonce: "NULL" }));
  await client.query(insertPayments({ ...endedRows, status: "processing" }));
  await client.query(`
    UPDATE payments SET status = 'settled', version = 2
    WHERE (source, source_id) IN (SELECT source, source_id FROM open_payments)
  `);
  const openRows = toRowRange(lastMinuteCount, 3_000);
  await client.query(insertTransfers(openRows));
  await client.query(insertPayments({ ...openRows, status: "processing" }));
  const orphanedRows = toRowRange(lastMinuteCount + 3_000, 10);
  await client.query(insertTransfers({ ...orphanedRows, nonce: "NULL" }));
  await client.query(insertPayments({ ...orphanedRows, status: "processing" }));
  await client.query(`
    UPDATE payments SET block_number = NULL
    WHERE (source, source_id) IN (SELECT source, source_id FROM open_payments ORDER BY seq DESC LIMIT 10)
  `);
  await client.query(
    insertPayments({
      ...toRowRange(lastMinuteCount + 4_000, 3_000),
      status: "settled",
      version: 0,
    }),
  );
};

const hashSql = "'0x' || lpad(to_hex(number), 64, '0')";
const linkIdSql = "'plink_' || lpad(number::text, 26, '0')";
const addressSql = `'0x${"5".repeat(40)}'`;

type RowRange = { first: number; last: number };

const insertPayments = ({
  first,
  last,
  status,
  version = status === "settled" ? 2 : 1,
}: RowRange & { status: string; version?: number }): string => `
  INSERT INTO payments (source, source_id, id, version, payment_link_id, status, amount, token_address,
    chain_id, destination_address, source_transaction, occurred_at, first_seen_at, block_number)
  SELECT '${source}', ${hashSql} || ':' || ${linkIdSql} || ':0', 'tx_' || lpad(number::text, 26, '0'),
    ${version}, ${linkIdSql}, '${status}', 1.5, ${addressSql}, '${chainId}', ${addressSql}, ${hashSql}, now(),
    now(), number / ${transfersPerBlock}
  FROM generate_series(${first}, ${last}) AS number
`;

const insertTransfers = ({ first, last, nonce = "7" }: RowRange & { nonce?: string }): string => `
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, nonce,
    payment_link_id, seen_at)
  SELECT '${chainId}', ${hashSql}, 0, number / ${transfersPerBlock}, ${hashSql}, now(), ${hashSql},
    ${addressSql}, ${addressSql}, 1.5, ${addressSql}, ${nonce}, ${linkIdSql}, now()
  FROM generate_series(${first}, ${last}) AS number
`;

/** Inserts transfers whose references do not belong to any link. */
const insertSpam = ({ first, last, age }: RowRange & { age: string }): string => `
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, nonce, seen_at)
  SELECT '${chainId}', '0xf' || lpad(to_hex(number), 63, '0'), 0, number / ${transfersPerBlock}, '0x', now(), ${hashSql},
    ${addressSql}, ${addressSql}, 1.5, ${addressSql}, 7, now() - interval '${age}' + number * interval '1 ms'
  FROM generate_series(${first}, ${last}) AS number
`;

/** Returns how many buffers each poll of the listener reads while there is little or no work. */
export const measurePolls = async (
  client: Client,
  rowCount: number,
): Promise<ReadonlyMap<string, number>> => {
  const buffers = new Map<string, number>();
  let currentPoll = "backlog, first read";
  const db = createExplainingPool(client, (count) =>
    buffers.set(currentPoll, (buffers.get(currentPoll) ?? 0) + count),
  );
  const [pool, tx]: [Pool, Transaction] = [db as never, db as never];
  const finalizedTo = Math.ceil(rowCount / transfersPerBlock);
  // The open rows come after those that became final in the last minute.
  const settledBlock = Math.floor((rowCount + lastMinuteCount) / transfersPerBlock) - 1;
  const now = new Date();
  const leaderReport = { state: "watching", reason: null, head: finalizedTo } as const;
  const before = new Date(Date.now() - 86_400_000);
  const backlog = await readBacklog(pool);
  const polls: Record<string, () => Promise<unknown>> = {
    "chain progress": () => readProgress(pool, chainId),
    "leadership lease": () => readLeaseUntil(pool, chainId),
    "acquiring a held leadership": () => acquireLeadership(pool, { chainId, now, until: now }),
    "renewing a leadership": () =>
      renewLeadership(pool, { chainId, token: "1" }, { until: now, report: leaderReport }),
    "due transfers": () =>
      listDueTransfers(pool, chainId, {
        toBlock: settledBlock,
        countMax: 500,
        includeDeposits: true,
      }),
    "missing nonces": () => listMissingNonces(pool, chainId, { afterSeq: "0", countMax: 100 }),
    "orphaned transfers": () =>
      listOrphanedTransfers(pool, chainId, { afterSeq: "0", countMax: 100, includeDeposits: true }),
    "backlog, later reads": () => readBacklog(pool, backlog),
    "unmatched transfers to delete": () =>
      deleteUnmatchedTransfers(tx, chainId, { seenBefore: before, finalizedTo, countMax: 5_000 }),
    "final blocks to delete": () => deleteBlocksBelow(tx, chainId, finalizedTo),
    "latest final block": () => findBlock(pool, chainId, finalizedTo),
    "stored transfers of a block": () =>
      listStoredTransfers(pool, chainId, { fromBlock: 1, toBlock: 1, transactionHashes: [] }),
    "oldest rescan": () => findOldestRescan(pool, chainId),
    "number of rescans": () => countRescans(pool, chainId),
    "list of all chains": () => listWatchers(pool),
    "receiving a link": async () => {
      await releaseDeferredPayments(tx, ["plink_unknown"], 500);
      await assignTransfers(tx, [{ linkId: "plink_unknown", referenceHash: "0xunknown" }], 500);
    },
    "recording a payment": () => lockPayments(tx, source, ["0xunknown:plink_unknown:0"]),
  };
  for (const [name, runPoll] of Object.entries(polls)) {
    currentPoll = name;
    buffers.set(name, 0);
    await runPoll();
  }
  return buffers;
};

type Query = {
  sql: string;
  values: readonly unknown[];
  parser?: { parse: (row: unknown) => unknown };
};

const Plan = z.object({ "Shared Hit Blocks": z.int(), "Shared Read Blocks": z.int() });
const Explained = z.tuple([z.object({ "QUERY PLAN": z.tuple([z.object({ Plan })]) })]);

/**
 * Creates the pool methods that the store uses, on a single connection. With `count`, it first
 * explains each statement, rolls it back, and reports how many buffers it read.
 */
const createExplainingPool = (client: Client, count?: (buffers: number) => void) => {
  const runQuery = async ({ parser, sql, values }: Query) => {
    const text = sql.replaceAll("$slonik_", "$");
    if (count !== undefined) {
      await client.query("BEGIN");
      const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
      const [row] = Explained.parse((await client.query(explain, [...values])).rows);
      await client.query("ROLLBACK");
      const plan = row["QUERY PLAN"][0].Plan;
      count(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
    }
    const { rowCount, rows } = await client.query(text, [...values]);
    return { rowCount, rows: rows.map((queryRow) => parser?.parse(queryRow) ?? queryRow) };
  };
  return {
    any: async (query: Query) => (await runQuery(query)).rows,
    one: async (query: Query) => (await runQuery(query)).rows[0],
    maybeOne: async (query: Query) => (await runQuery(query)).rows[0] ?? null,
    exists: async (query: Query) => (await runQuery(query)).rows.length > 0,
    query: runQuery,
  };
};
