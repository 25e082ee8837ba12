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

/** The parts of a `pg` client that are used here. */
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
 * The rows that one minute of 50 settlements per second leaves for the vacuum of `open_payments`.
 */
const lastMinuteCount = 3_000;

/**
 * Fills `payments` and `chain_transfers` with `rowCount` rows each. A fifth of the payments leaves
 * dead rows, which autovacuum does not remove. Then inserts spam and deletes it like the service
 * does, and returns the number of deleted rows per second. The client must be a superuser, with the
 * service's schema as its search path.
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
  // Disables triggers and foreign keys, because these payments have long been final.
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
  reportProgress("a fifth of the payments dies");
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
  if (deletedCount !== spamCount) throw new Error(`${deletedCount} were forgotten`);
  const seconds = (performance.now() - startedAtMs) / 1000;
  return { deletedPerSecond: Math.round(spamCount / seconds) };
};

/**
 * Inserts open payments (new, orphaned and deferred ones), and some that have just become final.
 */
const fillOpenPayments = async (client: Client, rowCount: number): Promise<void> => {
  const toRowRange = (offset: number, count: number) => ({
    first: rowCount + offset,
    last: rowCount + offset + count - 1,
  });
  const endedRows = toRowRange(0, lastMinuteCount);
  // They were received while one of two providers was unavailable.
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

/** Inserts transfers whose references belong to no link. */
const insertSpam = ({ first, last, age }: RowRange & { age: string }): string => `
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, nonce, seen_at)
  SELECT '${chainId}', '0xf' || lpad(to_hex(number), 63, '0'), 0, number / ${transfersPerBlock}, '0x', now(), ${hashSql},
    ${addressSql}, ${addressSql}, 1.5, ${addressSql}, 7, now() - interval '${age}' + number * interval '1 ms'
  FROM generate_series(${first}, ${last}) AS number
`;

/**
 * Returns the number of buffers that each poll of the listener reads when there is little or
 * nothing to do.
 */
export const measurePolls = async (
  client: Client,
  rowCount: number,
): Promise<ReadonlyMap<string, number>> => {
  const buffers = new Map<string, number>();
  let currentPoll = "what is waiting, at the start";
  const db = createExplainingPool(client, (count) =>
    buffers.set(currentPoll, (buffers.get(currentPoll) ?? 0) + count),
  );
  const [pool, tx]: [Pool, Transaction] = [db as never, db as never];
  const finalizedTo = Math.ceil(rowCount / transfersPerBlock);
  // The open rows follow those that became final in the last minute.
  const settledBlock = Math.floor((rowCount + lastMinuteCount) / transfersPerBlock) - 1;
  const now = new Date();
  const leaderReport = { state: "watching", reason: null, head: finalizedTo } as const;
  const before = new Date(Date.now() - 86_400_000);
  const backlog = await readBacklog(pool);
  const polls: Record<string, () => Promise<unknown>> = {
    "how far a chain is": () => readProgress(pool, chainId),
    "whether a chain is led": () => readLeaseUntil(pool, chainId),
    "asking for a led chain": () => acquireLeadership(pool, { chainId, now, until: now }),
    "keeping a lead": () =>
      renewLeadership(pool, { chainId, token: "1" }, { until: now, report: leaderReport }),
    "what is due": () =>
      listDueTransfers(pool, chainId, {
        toBlock: settledBlock,
        countMax: 500,
        includeDeposits: true,
      }),
    "whose nonce is to be learnt": () =>
      listMissingNonces(pool, chainId, { afterSeq: "0", countMax: 100 }),
    "what is lost": () =>
      listOrphanedTransfers(pool, chainId, { afterSeq: "0", countMax: 100, includeDeposits: true }),
    "what is waiting": () => readBacklog(pool, backlog),
    "what can be forgotten": () =>
      deleteUnmatchedTransfers(tx, chainId, { seenBefore: before, finalizedTo, countMax: 5_000 }),
    "blocks that are final": () => deleteBlocksBelow(tx, chainId, finalizedTo),
    "the tip's block": () => findBlock(pool, chainId, finalizedTo),
    "what is stored of a block": () =>
      listStoredTransfers(pool, chainId, { fromBlock: 1, toBlock: 1, transactionHashes: [] }),
    "an operator's rescan": () => findOldestRescan(pool, chainId),
    "how many rescans": () => countRescans(pool, chainId),
    "an operator's list of all chains": () => listWatchers(pool),
    "a link that is received": async () => {
      await releaseDeferredPayments(tx, ["plink_unknown"], 500);
      await assignTransfers(tx, [{ linkId: "plink_unknown", referenceHash: "0xunknown" }], 500);
    },
    "a payment that is recorded": () => lockPayments(tx, source, ["0xunknown:plink_unknown:0"]),
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
 * Creates the pool methods that the store uses, on one connection. With `count`, explains each
 * statement first, rolls it back, and reports its buffers.
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
