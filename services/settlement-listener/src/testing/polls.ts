import * as z from "zod";
import { type Pool, type Transaction } from "@payment-links/postgres";
import { deleteBlocksBelow, findBlock } from "../store/chain-blocks.ts";
import { assignTransfers, deleteUnmatchedTransfers, listStored } from "../store/chain-transfers.ts";
import { listDue, listLackingNonces, listLost } from "../store/open-transfers.ts";
import { readBacklog } from "../store/open-payments.ts";
import { lockPayments, unparkPayments } from "../store/payments.ts";
import { countRescans, findRescan } from "../store/rescans.ts";
import {
  listWatchers,
  readLeaseUntil,
  readProgress,
  renewLead,
  takeLead,
} from "../store/watchers.ts";

/** What of a client of `pg` is used here. */
type Client = {
  query: (
    text: string,
    values?: unknown[],
  ) => Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
};

const chainId = "8453";
const source = `evm:${chainId}`;
const transfersPerBlock = 10;
const filledAtOnce = 500_000;
const forgottenAtOnce = 5_000;
/** What a minute of fifty settlements a second leaves to the vacuum of `open_payments`. */
const lastMinuteCount = 3_000;

/**
 * Fills `payments` and `chain_transfers` with so many rows each, a fifth of them dead and left by
 * autovacuum; ends with spam that is forgotten as the service does it. Answers how many rows of it
 * were forgotten in a second. The client is a superuser's, and its search path the service's schema.
 */
export const fillPolls = async (
  client: Client,
  rowCount: number,
  say: (line: string) => void,
): Promise<{ forgottenPerSecond: number }> => {
  const head = Math.ceil(rowCount / transfersPerBlock);
  await client.query(`
    ALTER TABLE payments SET (autovacuum_enabled = false);
    ALTER TABLE chain_transfers SET (autovacuum_enabled = false);
    SET synchronous_commit = off;
    INSERT INTO watchers (chain_id, fencing_token, lease_until, first_block, scanned_to, finalized_to)
    VALUES ('${chainId}', 1, now() + interval '1 day', 0, ${head}, ${head});
    INSERT INTO chain_blocks VALUES ('${chainId}', ${head}, '0x', '0x', now());
  `);
  // Neither triggers nor foreign keys: these payments have long been final.
  await client.query("SET session_replication_role = replica");
  const spamCount = Math.floor(rowCount / 5);
  for (let first = 0; first < rowCount; first += filledAtOnce) {
    const last = Math.min(first + filledAtOnce, rowCount) - 1;
    await client.query(insertPayments({ first, last, status: "settled" }));
    await client.query(insertTransfers({ first, last }));
    say(`${last + 1} of ${rowCount} payments and transfers`);
  }
  for (let first = 0; first < spamCount; first += filledAtOnce) {
    const last = Math.min(first + filledAtOnce, spamCount) - 1;
    await client.query(insertSpam({ first, last, age: "48 hours" }));
  }
  await client.query(insertSpam({ first: spamCount, last: spamCount + 20_000, age: "1 hour" }));
  say("a fifth of the payments dies");
  await client.query("UPDATE payments SET version = version + 1 WHERE seq % 5 = 0");
  await client.query("SET session_replication_role = origin");
  await fillOpen(client, rowCount);
  await client.query("ANALYZE payments; ANALYZE chain_transfers; ANALYZE open_payments");

  say(`${spamCount} transfers that nobody asked for are forgotten`);
  const startedAtMs = performance.now();
  const transaction: Transaction = explaining(client) as never;
  const bounds = { before: new Date(Date.now() - 86_400_000), finalizedTo: head };
  let forgottenCount = 0;
  for (let batch = 0; batch <= spamCount / forgottenAtOnce; batch += 1) {
    const forget = { ...bounds, countMax: forgottenAtOnce };
    forgottenCount += await deleteUnmatchedTransfers(transaction, chainId, forget);
  }
  if (forgottenCount !== spamCount) throw new Error(`${forgottenCount} were forgotten`);
  const seconds = (performance.now() - startedAtMs) / 1000;
  return { forgottenPerSecond: Math.round(spamCount / seconds) };
};

/** Payments that wait: new ones, lost ones, parked ones; and those that have just ended. */
const fillOpen = async (client: Client, rowCount: number): Promise<void> => {
  const from = (offset: number, count: number) => ({
    first: rowCount + offset,
    last: rowCount + offset + count - 1,
  });
  const ended = from(0, lastMinuteCount);
  // They were seen while one of two providers was away.
  await client.query(insertTransfers({ ...ended, nonce: "NULL" }));
  await client.query(insertPayments({ ...ended, status: "processing" }));
  await client.query(`
    UPDATE payments SET status = 'settled', version = 2
    WHERE (source, source_id) IN (SELECT source, source_id FROM open_payments)
  `);
  const open = from(lastMinuteCount, 3_000);
  await client.query(insertTransfers(open));
  await client.query(insertPayments({ ...open, status: "processing" }));
  const lost = from(lastMinuteCount + 3_000, 10);
  await client.query(insertTransfers({ ...lost, nonce: "NULL" }));
  await client.query(insertPayments({ ...lost, status: "processing" }));
  await client.query(`
    UPDATE payments SET block_number = NULL
    WHERE (source, source_id) IN (SELECT source, source_id FROM open_payments ORDER BY seq DESC LIMIT 10)
  `);
  await client.query(
    insertPayments({ ...from(lastMinuteCount + 4_000, 3_000), status: "settled", version: 0 }),
  );
};

const hashOf = "'0x' || lpad(to_hex(number), 64, '0')";
const linkOf = "'plink_' || lpad(number::text, 26, '0')";
const address = `'0x${"5".repeat(40)}'`;

type Rows = { first: number; last: number };

const insertPayments = ({
  first,
  last,
  status,
  version = status === "settled" ? 2 : 1,
}: Rows & { status: string; version?: number }): string => `
  INSERT INTO payments (source, source_id, id, version, payment_link_id, status, amount, token_address,
    chain_id, destination_address, source_transaction, occurred_at, first_seen_at, block_number)
  SELECT '${source}', ${hashOf} || ':' || ${linkOf} || ':0', 'tx_' || lpad(number::text, 26, '0'),
    ${version}, ${linkOf}, '${status}', 1.5, ${address}, '${chainId}', ${address}, ${hashOf}, now(),
    now(), number / ${transfersPerBlock}
  FROM generate_series(${first}, ${last}) AS number
`;

const insertTransfers = ({ first, last, nonce = "7" }: Rows & { nonce?: string }): string => `
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, nonce,
    payment_link_id, seen_at)
  SELECT '${chainId}', ${hashOf}, 0, number / ${transfersPerBlock}, ${hashOf}, now(), ${hashOf},
    ${address}, ${address}, 1.5, ${address}, ${nonce}, ${linkOf}, now()
  FROM generate_series(${first}, ${last}) AS number
`;

/** Of references that no link has. */
const insertSpam = ({ first, last, age }: Rows & { age: string }): string => `
  INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number, block_hash,
    occurred_at, reference_hash, token_address, destination_address, amount, sender, nonce, seen_at)
  SELECT '${chainId}', '0xf' || lpad(to_hex(number), 63, '0'), 0, number / ${transfersPerBlock}, '0x', now(), ${hashOf},
    ${address}, ${address}, 1.5, ${address}, 7, now() - interval '${age}' + number * interval '1 ms'
  FROM generate_series(${first}, ${last}) AS number
`;

/** How many buffers each poll of the listener reads, where there is nothing or little to do. */
export const measurePolls = async (
  client: Client,
  rowCount: number,
): Promise<ReadonlyMap<string, number>> => {
  const buffers = new Map<string, number>();
  let poll = "what is waiting, at the start";
  const db = explaining(client, (count) => buffers.set(poll, (buffers.get(poll) ?? 0) + count));
  const [pool, tx]: [Pool, Transaction] = [db as never, db as never];
  const finalizedTo = Math.ceil(rowCount / transfersPerBlock);
  // What waits begins behind what has ended in the last minute.
  const settleLine = Math.floor((rowCount + lastMinuteCount) / transfersPerBlock) - 1;
  const now = new Date();
  const report = { state: "watching", reason: null, head: finalizedTo } as const;
  const before = new Date(Date.now() - 86_400_000);
  const backlog = await readBacklog(pool);
  const polls: Record<string, () => Promise<unknown>> = {
    "how far a chain is": () => readProgress(pool, chainId),
    "whether a chain is led": () => readLeaseUntil(pool, chainId),
    "asking for a led chain": () => takeLead(pool, { chainId, now, until: now }),
    "keeping a lead": () => renewLead(pool, { chainId, token: "1" }, { until: now, report }),
    "what is due": () =>
      listDue(pool, chainId, { toBlock: settleLine, countMax: 500, withDeposits: true }),
    "whose nonce is to be learnt": () =>
      listLackingNonces(pool, chainId, { afterSeq: "0", countMax: 100 }),
    "what is lost": () =>
      listLost(pool, chainId, { afterSeq: "0", countMax: 100, withDeposits: true }),
    "what is waiting": () => readBacklog(pool, backlog),
    "what can be forgotten": () =>
      deleteUnmatchedTransfers(tx, chainId, { before, finalizedTo, countMax: 5_000 }),
    "blocks that are final": () => deleteBlocksBelow(tx, chainId, finalizedTo),
    "the tip's block": () => findBlock(pool, chainId, finalizedTo),
    "what is stored of a block": () =>
      listStored(pool, chainId, { fromBlock: 1, toBlock: 1, transactionHashes: [] }),
    "an operator's rescan": () => findRescan(pool, chainId),
    "how many rescans": () => countRescans(pool, chainId),
    "an operator's look at all chains": () => listWatchers(pool),
    "a link that is heard of": async () => {
      await unparkPayments(tx, ["plink_unknown"], 500);
      await assignTransfers(tx, [{ linkId: "plink_unknown", referenceHash: "0xunknown" }], 500);
    },
    "a payment that is recorded": () => lockPayments(tx, source, ["0xunknown:plink_unknown:0"]),
  };
  for (const [name, run] of Object.entries(polls)) {
    poll = name;
    buffers.set(name, 0);
    await run();
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
 * The pool's methods that stores use, on one connection. Where buffers are counted, each statement is
 * explained first, and what it wrote then is rolled back.
 */
const explaining = (client: Client, count?: (buffers: number) => void) => {
  const ask = async ({ parser, sql, values }: Query) => {
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
    return { rowCount, rows: rows.map((one) => parser?.parse(one) ?? one) };
  };
  return {
    any: async (query: Query) => (await ask(query)).rows,
    one: async (query: Query) => (await ask(query)).rows[0],
    maybeOne: async (query: Query) => (await ask(query)).rows[0] ?? null,
    exists: async (query: Query) => (await ask(query)).rows.length > 0,
    query: ask,
  };
};
