import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Bus } from "@payment-links/bus";
import { keccak256Hex } from "@payment-links/chains";
import { createCatalogue, newId } from "@payment-links/contracts";
import { createTestContext } from "@payment-links/process/testing";
import { createLog, createMetrics, parseConfig, systemClock } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { fetchPayments } from "@payment-links/settlement-listener/testing/fetch-payments";
import { startScriptedRpc } from "@payment-links/settlement-listener/testing/scripted-rpc";
import { waitUntil } from "@payment-links/runtime/testing";
import { connectBareWatch } from "./bare-watch.ts";
import { startBenchPostgres, printProgress } from "./bench-postgres.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";

const blockCount = 10_000;
/** One in this many blocks contains a payment. The other blocks are empty. */
const blocksPerPayment = 4;
const paidLinkCount = 500;
export const fewLinks = 1_000;
const manyLinks = 1_000_000;
/**
 * After this many runs, a run takes as long as the previous one, because the frequently used code
 * is optimized.
 */
const warmUpCount = 10;
const roundCount = 9;
const rangeBlocksMax = 2_000;
const catchUpMsMax = 120_000;
const pollMs = 3;

/**
 * Measures how fast one watcher catches up with a chain of final blocks. It uses a real Postgres.
 * The time is from an empty state until the last payment is settled and its event is written.
 * Compares it with a loop that only fetches the same logs and receipts, and with bare clients that
 * write the same rows. There is only one provider, so no audit runs. Compares the times with 1,000
 * and with 1 million open links, and counts the calls.
 */
export const benchWatch = async (): Promise<BenchResult> => {
  const postgres = await startBenchPostgres();
  const chain = await startEvmChain({ slotsInEpoch: 1 });
  const fewLinksShop = await createWatchShop(chain, fewLinks);
  const manyLinksShop = await createWatchShop(chain, manyLinks);
  try {
    const references = fewLinksShop.references;
    await manyLinksShop.addLinks(references);
    const payments = await payMany(chain, references);
    const head = await readFinalBlockNumber(chain);
    const work = { payments, head };

    printProgress("counting calls");
    const calls = {
      few: await fewLinksShop.countCalls(work),
      many: await manyLinksShop.countCalls(work),
    };
    const times: Times = { few: [], many: [], bare: [], floor: [] };
    const measureFloor = () => timeFloor(chain, work);
    for (let run = 0; run < warmUpCount; run += 1) {
      await fewLinksShop.catchUp(work);
      await fewLinksShop.catchUpBare(work);
      await measureFloor();
    }
    for (let round = 0; round < roundCount; round += 1) {
      const runs = [
        async () => times.few.push(await fewLinksShop.catchUp(work)),
        async () => times.floor.push(await measureFloor()),
        async () => times.bare.push(await fewLinksShop.catchUpBare(work)),
        async () => times.many.push(await manyLinksShop.catchUp(work)),
      ];
      for (const run of round % 2 === 0 ? runs : runs.toReversed()) await run();
      printRound(round, times);
    }
    return summarize(work, times, calls);
  } finally {
    await fewLinksShop.close();
    await manyLinksShop.close();
    await chain.close();
    await postgres.close();
  }
};

type Work = { payments: number; head: number };
type Times = Record<"few" | "many" | "bare" | "floor", number[]>;
type Calls = { rpc: number; sql: number };

const printRound = (round: number, times: Times): void => {
  const timeTexts = Object.entries(times).map(
    ([name, timesMs]) => `${name} ${((timesMs.at(-1) ?? 0) / 1000).toFixed(2)} s`,
  );
  process.stdout.write(`round ${round + 1}: ${timeTexts.join(", ")}\n`);
};

const summarize = (
  { payments, head }: Work,
  times: Times,
  calls: Record<"few" | "many", Calls>,
): BenchResult => {
  const perSecond = (count: number, timesMs: readonly number[]) =>
    Math.round(count / (median(timesMs) / 1000));
  const perBlock = ({ rpc, sql }: Calls) => ({
    rpc: Number((rpc / head).toFixed(4)),
    sql: Number((sql / head).toFixed(4)),
  });
  return {
    ours: perSecond(head, times.few),
    floor: perSecond(head, times.floor),
    ratio: Number((median(times.floor) / median(times.few)).toFixed(3)),
    bareRatio: Number((median(times.floor) / median(times.bare)).toFixed(3)),
    unit: "blocks/s",
    oursPayments: perSecond(payments, times.few),
    floorPayments: perSecond(payments, times.floor),
    callsPerBlock: { fewLinks: perBlock(calls.few), manyLinks: perBlock(calls.many) },
    timeOfManyLinks: Number((median(times.many) / median(times.few)).toFixed(3)),
  };
};

const timeFloor = async (chain: LocalEvmChain, { head, payments }: Work): Promise<number> => {
  const startedAt = performance.now();
  const range = { url: chain.url, fromBlock: 0, toBlock: head, rangeBlocksMax };
  let count = 0;
  for await (const { receipts } of fetchPayments(range)) count += receipts.length;
  if (count !== payments) throw new Error(`the baseline fetched ${count} of ${payments} payments`);
  return performance.now() - startedAt;
};

const destinationAddress = "0x1111111111111111111111111111111111111111";

/**
 * Pays links by their references on a chain that a watcher then catches up with. Returns the number
 * of payments.
 */
export const payMany = async (
  chain: LocalEvmChain,
  references: readonly string[],
): Promise<number> => {
  printProgress(`mining ${blockCount} blocks with a payment in every ${blocksPerPayment}th`);
  let paidCount = 0;
  for (let minedCount = 0; minedCount < blockCount; minedCount += blocksPerPayment) {
    const reference = references[paidCount % references.length] ?? "";
    await chain.pay({
      reference,
      to: destinationAddress,
      amount: BigInt(paidCount + 1),
      payer: (paidCount % 3) as 0 | 1 | 2,
    });
    await chain.callRpc("anvil_mine", [`0x${blocksPerPayment.toString(16)}`]);
    paidCount += 1;
  }
  await chain.mine(2);
  return paidCount;
};

/** Returns the last finalized block. */
export const readFinalBlockNumber = async (chain: LocalEvmChain): Promise<number> =>
  Number((await chain.client.getBlock({ blockTag: "finalized" })).number);

/** Creates a bus without consumers. Another bench measures the consumers. */
export const createPublishOnlyBus = (publish: Bus["publish"]): Bus => ({
  sendTimeoutMs: 0,
  pollMs: 1_000,
  publish,
  subscribe: async () => ({ stop: async () => undefined }),
  close: async () => undefined,
});

/** Creates a settlement-listener database with the given number of open links. */
export const createWatchShop = async (chain: LocalEvmChain, linkCount: number) => {
  printProgress(`creating ${linkCount} links`);
  const directory = await mkdtemp(join(tmpdir(), "bench-watch-"));
  const chainsFile = join(directory, "chains.json");
  const settings = { finality: "finalized", headLagBlocks: 0, rangeBlocksMax, pollMs: 50 };
  await writeFile(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
  const testContext = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
  });
  const admin = new Client({ connectionString: testContext.database.adminUrl });
  await admin.connect();
  const bare = await connectBareWatch(testContext.database.adminUrl);
  await admin.query(fillLinksSql, [
    linkCount,
    chain.chainId,
    chain.getTokenAddress("usdc"),
    destinationAddress,
  ]);
  const references = Array.from({ length: paidLinkCount }, () => randomBytes(16).toString("hex"));
  const addLinks = async (references: readonly string[]): Promise<void> => {
    await admin.query(addPaidLinksSql, [
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
  };

  const createListener = (url: string, overrides: Partial<typeof testContext.context>) => {
    const context = {
      ...testContext.context,
      catalogue: createCatalogue(chain.catalogueData),
      log: createLog({ service: "bench", level: "error" }),
      metrics: createMetrics("settlement-listener"),
      ...overrides,
    };
    const config = parseConfig(settlementListenerConfig, {
      EVM_RPC_URLS: `${chain.chainId}=${url}`,
      EVM_CHAINS_FILE: chainsFile,
    });
    return createSettlementListener(context, config);
  };

  /**
   * Polls the watcher's checkpoint, which is the cheapest value to read. The watcher updates it in
   * the same transaction as the payments.
   */
  const hasCaughtUp = async ({ head }: Work): Promise<boolean> => {
    const { rowCount } = await admin.query({
      // A prepared statement is planned only once. This matters because the poll uses the same CPU
      // cores as the measured processes.
      name: "is_there",
      text: "SELECT FROM settlement_listener.watchers WHERE finalized_to >= $1",
      values: [head],
    });
    return rowCount === 1;
  };

  const checkSettled = async ({ payments }: Work): Promise<void> => {
    const { rows } = await admin.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM settlement_listener.payments WHERE status = 'settled'`,
    );
    const count = rows[0]?.count;
    if (count !== payments) throw new Error(`${count} of ${payments} payments have settled`);
  };

  const resetChain = () => admin.query(resetChainSql);

  const startFirstWatch = async (): Promise<void> => {
    const service = createListener(chain.url, {
      clock: systemClock,
      bus: createPublishOnlyBus(() => Promise.resolve()),
    });
    await service.start();
    await waitUntil("the watch has started", async () => {
      const { rowCount } = await admin.query(
        "SELECT FROM settlement_listener.watchers WHERE first_block IS NOT NULL",
      );
      return rowCount === 1;
    });
    await service.stop();
    await admin.query(storeBeginningSql);
  };

  await addLinks(references);
  await startFirstWatch();
  return {
    references,
    addLinks,
    /** Returns the milliseconds that one watcher takes from an empty state to the last payment. */
    catchUp: async (work: Work): Promise<number> => {
      await resetChain();
      const service = createListener(chain.url, {
        clock: systemClock,
        bus: createPublishOnlyBus(() => Promise.reject(new Error("away"))),
      });
      const startedAt = performance.now();
      await service.start();
      // Polls often, because any polling delay is included in the watcher's time.
      while (!(await hasCaughtUp(work))) {
        if (performance.now() - startedAt > catchUpMsMax)
          throw new Error("the watcher does not catch up");
        await sleep(pollMs);
      }
      const tookMs = performance.now() - startedAt;
      await service.stop();
      await checkSettled(work);
      return tookMs;
    },
    /** Measures the same with {@link connectBareWatch}. */
    catchUpBare: async (work: Work): Promise<number> => {
      await resetChain();
      const startedAt = performance.now();
      const range = { url: chain.url, fromBlock: 0, toBlock: work.head, rangeBlocksMax };
      await bare.catchUp(chain.chainId, range);
      const tookMs = performance.now() - startedAt;
      await checkSettled(work);
      return tookMs;
    },
    /**
     * Counts the RPC calls and SQL statements of the same run. The clock is stopped and the bus is
     * unavailable, so that no other calls are counted.
     */
    countCalls: async (work: Work): Promise<Calls> => {
      await resetChain();
      const rpc = await startScriptedRpc({ target: chain.url });
      const service = createListener(rpc.url, {
        bus: createPublishOnlyBus(() => Promise.reject(new Error("away"))),
      });
      const statements = countStatements(admin);
      await service.start();
      await waitUntil("the watch has caught up", () => hasCaughtUp(work), catchUpMsMax);
      const calls = { rpc: rpc.getCounts().calls, sql: statements.stop() };
      await service.stop();
      await rpc.close();
      return calls;
    },
    close: async () => {
      await bare.close();
      await admin.end();
      await testContext.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/**
 * Counts the statements that this process sends to Postgres until it is stopped, except those of
 * one connection.
 */
const countStatements = (excludedClient: Client): { stop: () => number } => {
  const query = Reflect.get(Client.prototype, "query");
  let count = 0;
  const countingQuery = function (this: Client, ...queryArguments: unknown[]): unknown {
    if (this !== excludedClient) count += 1;
    return Reflect.apply(query, this, queryArguments);
  };
  Client.prototype.query = countingQuery as Client["query"];
  return {
    stop: () => {
      Client.prototype.query = query;
      return count;
    },
  };
};

const fillLinksSql = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT 'plink_' || n, 1, $2, $3, $4, md5(n::text), '0x' || md5(n::text) || md5((-n)::text)
  FROM generate_series(1, $1::int) AS n
`;

const addPaidLinksSql = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT id, 1, $4, $5, $6, reference, hash
  FROM unnest($1::text[], $2::text[], $3::text[]) AS paid (id, reference, hash)
`;

/**
 * A watch starts at the last final block. This stores the watch and that block, and each run starts
 * from them.
 */
export const storeBeginningSql = `
  CREATE TABLE settlement_listener.begun_watchers AS TABLE settlement_listener.watchers;
  CREATE TABLE settlement_listener.begun_blocks AS
    SELECT chain_blocks.* FROM settlement_listener.chain_blocks, settlement_listener.watchers
    WHERE number = first_block
`;

/** Deletes everything that was read from a chain, and restores the start of its watch. */
export const resetChainSql = `
  TRUNCATE settlement_listener.watchers, settlement_listener.chain_blocks,
    settlement_listener.read_spans,
    settlement_listener.chain_transfers, settlement_listener.payments, settlement_listener.outbox;
  INSERT INTO settlement_listener.watchers SELECT * FROM settlement_listener.begun_watchers;
  INSERT INTO settlement_listener.chain_blocks SELECT * FROM settlement_listener.begun_blocks;
  UPDATE settlement_listener.watchers
    SET scanned_to = first_block, finalized_to = first_block, audited_to = first_block,
      lease_until = to_timestamp(0)
`;
