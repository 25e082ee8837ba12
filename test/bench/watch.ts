import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Bus } from "@payment-links/bus";
import { keccak256Hex } from "@payment-links/chains";
import { createCatalogue, newId } from "@payment-links/contracts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { createTestContext } from "@payment-links/process/testing";
import { createLog, createMetrics, parseConfig, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import { fetchPayments } from "@payment-links/settlement-listener/testing/fetch-payments";
import { printProgress, startBenchPostgres } from "./bench-postgres.ts";
import { type Bench, type OnEnd, median, round, takeTurns } from "./harness.ts";

const blockCount = 10_000;
/** One in this many blocks contains a payment. The other blocks are empty. */
const blocksPerPayment = 4;
const linkCount = 1_500;
const paidLinkCount = 500;
/**
 * After this many runs, a run takes as long as the previous one, because the frequently used code
 * is optimized.
 */
const warmUpCount = 10;
const roundCount = 9;
const rangeBlocksMax = 2_000;
const catchUpMsMax = 120_000;
const pollMs = 3;
const destinationAddress = "0x1111111111111111111111111111111111111111";

/**
 * Measures how fast one watcher catches up with a chain of final blocks. It uses a real Postgres.
 * The time is from an empty state until the last payment is settled and its event is written.
 * Compares it with a loop that only fetches the same logs and receipts. There is only one provider,
 * so no audit runs.
 */
export const benchWatch: Bench = async (onEnd) => {
  const postgres = await startBenchPostgres();
  onEnd(postgres.close);
  const chain = await startEvmChain({ slotsInEpoch: 1 });
  onEnd(() => chain.close());
  const watch = await createWatch(onEnd, chain);
  const payments = await payLinks(chain, watch.references);
  const head = Number((await chain.client.getBlock({ blockTag: "finalized" })).number);
  const work = { payments, head };
  const variants = {
    ours: () => watch.catchUp(work),
    floor: () => fetchAll(chain, work),
  };
  const format = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  await takeTurns(warmUpCount, variants, format);
  const times = await takeTurns(roundCount, variants, format);
  const [ours, floor] = [median(times.ours), median(times.floor)];
  return {
    ours: Math.round((head / ours) * 1_000),
    floor: Math.round((head / floor) * 1_000),
    ratio: round(floor / ours, 3),
    unit: "blocks/s",
  };
};

type Work = { payments: number; head: number };

/** Returns the milliseconds that reading the logs and receipts takes. */
const fetchAll = async (chain: LocalEvmChain, { head, payments }: Work): Promise<number> => {
  const startedAt = performance.now();
  const range = { url: chain.url, fromBlock: 0, toBlock: head, rangeBlocksMax };
  let count = 0;
  for await (const { receipts } of fetchPayments(range)) count += receipts.length;
  if (count !== payments) throw new Error(`the baseline fetched ${count} of ${payments} payments`);
  return performance.now() - startedAt;
};

/** Mines the blocks, and pays the links in turn. Returns the number of payments. */
const payLinks = async (chain: LocalEvmChain, references: readonly string[]): Promise<number> => {
  printProgress(`mining ${blockCount} blocks with a payment in every ${blocksPerPayment}th`);
  const paymentCount = blockCount / blocksPerPayment;
  for (let index = 0; index < paymentCount; index += 1) {
    await chain.pay({
      reference: references[index % references.length] ?? "",
      to: destinationAddress,
      amount: BigInt(index + 1),
      payer: (index % 3) as 0 | 1 | 2,
    });
    await chain.callRpc("anvil_mine", [`0x${blocksPerPayment.toString(16)}`]);
  }
  await chain.mine(2);
  return paymentCount;
};

/** Creates a settlement-listener database with open links, and a watch of the chain. */
const createWatch = async (onEnd: OnEnd, chain: LocalEvmChain) => {
  const directory = await mkdtemp(join(tmpdir(), "bench-watch-"));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  const chainsFile = join(directory, "chains.json");
  const settings = { finality: "finalized", headLagBlocks: 0, rangeBlocksMax, pollMs: 50 };
  await writeFile(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
  const testContext = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
  });
  onEnd(() => testContext.close());
  const admin = new Client({ connectionString: testContext.database.adminUrl });
  await admin.connect();
  onEnd(() => admin.end());
  const references = Array.from({ length: linkCount }, () => randomBytes(16).toString("hex"));
  await admin.query(addLinksSql, [
    references.map(() => newId("plink")),
    references,
    references.map((reference) => keccak256Hex(reference)),
    chain.chainId,
    chain.getTokenAddress("usdc"),
    destinationAddress,
  ]);
  await admin.query("VACUUM ANALYZE settlement_listener.links");
  // Writes all data to disk now, so that this does not happen during a measurement.
  await admin.query("CHECKPOINT");

  const createListener = (publish: Bus["publish"]) => {
    const context = {
      ...testContext.context,
      catalogue: createCatalogue(chain.catalogueData),
      log: createLog({ service: "bench", level: "error" }),
      metrics: createMetrics("settlement-listener"),
      clock: systemClock,
      bus: createPublishOnlyBus(publish),
    };
    const config = parseConfig(settlementListenerConfig, {
      RPC_URLS: `${chain.chainId}=${chain.url}`,
      CHAINS_FILE: chainsFile,
    });
    return createSettlementListener(context, config);
  };

  const firstListener = createListener(() => Promise.resolve());
  await firstListener.start();
  await waitUntil("the watch has started", async () => {
    const text = "SELECT FROM settlement_listener.watchers WHERE first_block IS NOT NULL";
    return (await admin.query(text)).rowCount === 1;
  });
  await firstListener.stop();
  await admin.query(storeBeginningSql);

  return {
    references: references.slice(0, paidLinkCount),
    /** Returns the milliseconds that one watcher takes from an empty state to the last payment. */
    catchUp: async ({ head, payments }: Work): Promise<number> => {
      await admin.query(resetChainSql);
      const listener = createListener(() => Promise.reject(new Error("away")));
      const startedAt = performance.now();
      await listener.start();
      // Polls the watcher's checkpoint, which the watcher updates in the same transaction as the
      // payments. It is the cheapest value to read, and a prepared statement is planned only once.
      // This matters because the poll uses the same CPU cores. Polls often, because any polling
      // delay is included in the watcher's time.
      const name = "is_there";
      const text = "SELECT FROM settlement_listener.watchers WHERE finalized_to >= $1";
      while ((await admin.query({ name, text, values: [head] })).rowCount !== 1) {
        if (performance.now() - startedAt > catchUpMsMax)
          throw new Error("the watcher does not catch up");
        await sleep(pollMs);
      }
      const tookMs = performance.now() - startedAt;
      await listener.stop();
      const { rows } = await admin.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM settlement_listener.payments WHERE status = 'settled'`,
      );
      const count = rows[0]?.count;
      if (count !== payments) throw new Error(`${count} of ${payments} payments have settled`);
      return tookMs;
    },
  };
};

/** Creates a bus without consumers. Another bench measures the consumers. */
const createPublishOnlyBus = (publish: Bus["publish"]): Bus => ({
  sendTimeoutMs: 0,
  pollMs: 1_000,
  publish,
  subscribe: async () => ({ stop: async () => undefined }),
  close: async () => undefined,
});

const addLinksSql = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT id, 1, $4, $5, $6, reference, hash
  FROM unnest($1::text[], $2::text[], $3::text[]) AS link (id, reference, hash)
`;

/**
 * A watch starts at the last final block. This stores the watch and that block, and each run starts
 * from them.
 */
const storeBeginningSql = `
  CREATE TABLE settlement_listener.begun_watchers AS TABLE settlement_listener.watchers;
  CREATE TABLE settlement_listener.begun_blocks AS
    SELECT chain_blocks.* FROM settlement_listener.chain_blocks, settlement_listener.watchers
    WHERE number = first_block
`;

/** Deletes everything that was read from a chain, and restores the start of its watch. */
const resetChainSql = `
  TRUNCATE settlement_listener.watchers, settlement_listener.chain_blocks,
    settlement_listener.read_spans,
    settlement_listener.chain_transfers, settlement_listener.payments, settlement_listener.outbox;
  INSERT INTO settlement_listener.watchers SELECT * FROM settlement_listener.begun_watchers;
  INSERT INTO settlement_listener.chain_blocks SELECT * FROM settlement_listener.begun_blocks;
  UPDATE settlement_listener.watchers
    SET scanned_to = first_block, finalized_to = first_block, audited_to = first_block,
      lease_until = to_timestamp(0)
`;
