import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { keccak256Hex, toEip55 } from "@payment-links/chains";
import { createCatalogue, newId } from "@payment-links/contracts";
import { createTestContext } from "@payment-links/process/testing";
import { createLog, createMetrics, parseConfig, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { deployScatterer } from "@payment-links/local-chains/evm/deploy-scatterer";
import { startBenchPostgres, printProgress } from "./bench-postgres.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";
import { resetChainSql, createPublishOnlyBus, storeBeginningSql } from "./watch.ts";

const ownerCount = 10_000;
const blockCount = 1_000;
const transfersPerBlock = 200;
/**
 * One in this many blocks contains a deposit to one of our owners. `blocksPerPayment` is the same
 * ratio for payments through the proxy.
 */
const blocksPerDeposit = 2;
const blocksPerPayment = 4;
const depositor = 2;
const roundCount = 5;
/**
 * The finalized block is twice this many blocks behind the head. At first no block is final. Later,
 * all blocks of the bench are final.
 */
const slotsInEpoch = 600;
const runMsMax = 180_000;
const pollMs = 3;
const minedAtOnceMax = 100;

type Work = { head: number; payments: number; deposits: number };
type Times = Record<"with" | "without", number[]>;

/**
 * Measures one watcher on 1,000 blocks with 200,000 transfers of a token. Of these transfers, 500
 * go to one of 10,000 owners without naming a link. There are also 250 payments. Compares the
 * watcher with one that scans only for payments. Measures both on new blocks, whose headers are
 * read, and on final blocks.
 */
export const benchDeposits = async (): Promise<BenchResult> => {
  const postgres = await startBenchPostgres();
  const chain = await startEvmChain({ slotsInEpoch });
  const owners = Array.from({ length: ownerCount }, () => `0x${randomBytes(20).toString("hex")}`);
  const shop = await createShop(chain, owners);
  try {
    const work = await mineBlocks(chain, owners, shop.references);
    printProgress("watching new blocks");
    const newBlockTimes = await measure(shop, work);
    for (
      let remainingBlocks = 2 * slotsInEpoch + 1;
      remainingBlocks > 0;
      remainingBlocks -= minedAtOnceMax
    ) {
      await chain.mine(Math.min(remainingBlocks, minedAtOnceMax));
    }
    printProgress("watching final blocks");
    const finalBlockTimes = await measure(shop, { ...work, head: await chain.readHeadNumber() });
    const perSecond = (timesMs: readonly number[]) =>
      Math.round(blockCount / (median(timesMs) / 1000));
    const computeRatio = (times: Times) =>
      Number((median(times.without) / median(times.with)).toFixed(3));
    return {
      ours: perSecond(newBlockTimes.with),
      floor: perSecond(newBlockTimes.without),
      ratio: computeRatio(newBlockTimes),
      unit: "blocks/s",
      found: work.deposits,
      ofFinalBlocks: {
        ours: perSecond(finalBlockTimes.with),
        floor: perSecond(finalBlockTimes.without),
        ratio: computeRatio(finalBlockTimes),
      },
    };
  } finally {
    await shop.close();
    await chain.close();
    await postgres.close();
  }
};

type Shop = Awaited<ReturnType<typeof createShop>>;

const measure = async (shop: Shop, work: Work): Promise<Times> => {
  const times: Times = { with: [], without: [] };
  const run = async (kind: keyof Times) => times[kind].push(await shop.run(work, kind === "with"));
  for (let round = 0; round < roundCount; round += 1) {
    const kinds = ["with", "without"] as const;
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) await run(kind);
    const [withMs = 0, withoutMs = 0] = [times.with.at(-1), times.without.at(-1)];
    const timesText = `with deposits ${(withMs / 1000).toFixed(2)} s, without ${(withoutMs / 1000).toFixed(2)} s`;
    process.stdout.write(`round ${round + 1}: ${timesText}\n`);
  }
  return times;
};

const mineBlocks = async (
  chain: LocalEvmChain,
  owners: readonly string[],
  references: readonly string[],
): Promise<Work> => {
  printProgress(`mining ${blockCount} blocks of ${transfersPerBlock} transfers`);
  const { scatter } = await deployScatterer(chain);
  // Each time a transaction is requested, anvil recovers its signer, with a library that is eight
  // times slower than that of other nodes. anvil caches the signer of an impersonated account.
  await chain.callRpc("anvil_impersonateAccount", [chain.payers[depositor]]);
  let [payments, deposits] = [0, 0];
  for (let block = 0; block < blockCount; block += 1) {
    const isOurs = block % blocksPerDeposit === 0;
    await scatter([], transfersPerBlock - (isOurs ? 1 : 0), 1_000_000n);
    if (isOurs) {
      // Like a typical deposit, this is a transaction of its own, so its receipt is small.
      const to = owners[(deposits * 19) % owners.length] ?? "";
      await chain.transferToken({ to, amount: 1_000_000n, payer: depositor });
      deposits += 1;
    }
    if (block % blocksPerPayment === 0) {
      const reference = references[payments % references.length] ?? "";
      await chain.pay({ reference, to: owners[0] ?? "", amount: 5n, payer: 1 });
      payments += 1;
    }
    await chain.mine();
  }
  await chain.mine(2);
  return { head: await chain.readHeadNumber(), payments, deposits };
};

/** Creates a settlement-listener database with one link for each owner. */
const createShop = async (chain: LocalEvmChain, owners: readonly string[]) => {
  const directory = await mkdtemp(join(tmpdir(), "bench-deposits-"));
  const testContext = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
  });
  const admin = new Client({ connectionString: testContext.database.adminUrl });
  await admin.connect();
  const references = owners.map(() => randomBytes(16).toString("hex"));
  await admin.query(addLinksSql, [
    owners.map(() => newId("plink")),
    owners.map(toEip55),
    references,
    references.map((reference) => keccak256Hex(reference)),
    chain.chainId,
    chain.getTokenAddress("usdc"),
  ]);
  await admin.query(
    "VACUUM ANALYZE settlement_listener.links, settlement_listener.owner_addresses",
  );

  const createListener = async (findsDeposits: boolean) => {
    const chainsFile = join(directory, "chains.json");
    const settings = { finality: { blocks: 1 }, headLagBlocks: 0, pollMs: 50, findsDeposits };
    await writeFile(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
    const context = {
      ...testContext.context,
      catalogue: createCatalogue(chain.catalogueData),
      log: createLog({ service: "bench", level: "error" }),
      metrics: createMetrics("settlement-listener"),
      clock: systemClock,
      bus: createPublishOnlyBus(() => Promise.reject(new Error("away"))),
    };
    const config = parseConfig(settlementListenerConfig, {
      RPC_URLS: `${chain.chainId}=${chain.url}`,
      CHAINS_FILE: chainsFile,
    });
    return createSettlementListener(context, config);
  };
  const isTrue = async (text: string, values: unknown[]): Promise<boolean> =>
    (await admin.query({ name: text.slice(0, 60), text, values })).rowCount === 1;

  const firstService = await createListener(true);
  await firstService.start();
  await waitUntil("the watch has started", () =>
    isTrue("SELECT FROM settlement_listener.watchers WHERE first_block IS NOT NULL", []),
  );
  await firstService.stop();
  await admin.query(storeBeginningSql);

  return {
    references,
    /**
     * Returns the milliseconds that one watcher takes from the first block to the last settled
     * payment. The same process has already done the whole scan once, so one-time costs are
     * excluded.
     */
    run: async ({ deposits, head, payments }: Work, findsDeposits: boolean): Promise<number> => {
      await admin.query(resetChainSql);
      const service = await createListener(findsDeposits);
      const catchUp = async (): Promise<number> => {
        const startedAt = performance.now();
        const waitForRow = async (text: string, values: unknown[]): Promise<void> => {
          while (!(await isTrue(text, values))) {
            if (performance.now() - startedAt > runMsMax)
              throw new Error("the watcher does not catch up");
            await sleep(pollMs);
          }
        };
        await waitForRow("SELECT FROM settlement_listener.watchers WHERE scanned_to >= $1", [head]);
        await waitForRow(areSettledSql, [payments, findsDeposits ? deposits : 0]);
        return performance.now() - startedAt;
      };
      await service.start();
      await catchUp();
      await admin.query(resetToFirstBlockSql);
      const tookMs = await catchUp();
      await service.stop();
      return tookMs;
    },
    close: async () => {
      await admin.end();
      await testContext.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/**
 * Resets a running watch to its first block. This is possible because a watch does not keep state
 * in memory between its steps.
 */
const resetToFirstBlockSql = `
  TRUNCATE settlement_listener.chain_blocks, settlement_listener.read_spans,
    settlement_listener.chain_transfers, settlement_listener.payments, settlement_listener.outbox;
  INSERT INTO settlement_listener.chain_blocks SELECT * FROM settlement_listener.begun_blocks;
  UPDATE settlement_listener.watchers
    SET scanned_to = first_block, finalized_to = first_block, audited_to = first_block
`;

const areSettledSql = `
  SELECT FROM (
    SELECT count(*) FILTER (WHERE payer IS NULL) AS payments, count(payer) AS deposits
    FROM settlement_listener.payments WHERE status = 'settled'
  ) AS settled WHERE payments = $1 AND deposits = $2
`;

const addLinksSql = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT id, 1, $5, $6, address, reference, hash
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS link (id, address, reference, hash)
`;
