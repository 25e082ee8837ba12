import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import {
  type ScriptedFault,
  type ScriptedRpc,
  startScriptedRpc,
} from "@payment-links/chains/testing/scripted-rpc";
import { type PaymentSystem, createPaymentSystem } from "../rig/payment-system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const seed = Number(process.env["SEED"] ?? randomInt(2 ** 31));
const paymentCount = Number(process.env["PAYMENTS"] ?? 2_500);
const blockCount = Number(process.env["BLOCKS"] ?? 1_000);
const linkCount = 40;
const payerCount = 3;
const amountMax = 1_000_000_000;

/** The finalized block is four blocks behind the head, so reorgs must be less deep than that. */
const slotsInEpoch = 2;
const reorgDepthMax = 3;
const blocksPerReorg = 25;
const blocksPerFault = 40;
const blocksPerRestart = 400;
/**
 * The maximum number of blocks that the watcher can be behind the head. It ensures that the watcher
 * reads blocks before reorgs replace them.
 */
const lagBlocksMax = 10;
/** Enough time on a busy machine to start all services and to process each block. */
const runMsMax = 300_000 + blockCount * 500;

type RandomBelow = (bound: number) => number;
type SentPayment = { hash: `0x${string}`; payer: number };

describe(`${paymentCount} payments over ${blockCount} blocks with reorgs and faults (SEED=${seed})`, () => {
  let chain: LocalEvmChain;
  let rpc: ScriptedRpc;
  let system: PaymentSystem;

  beforeAll(async () => {
    process.stderr.write(`seeded run: SEED=${seed}\n`);
    chain = await startEvmChain({ slotsInEpoch });
    rpc = await startScriptedRpc({ target: chain.url });
    const settings = { finality: "finalized" } as const;
    system = await createPaymentSystem({ chain, settings, rpcUrls: [rpc.url, chain.url] });
  });
  afterAll(async () => {
    await system?.close();
    await rpc?.close();
    await chain?.close();
  });

  test(
    "credits each link with exactly the amount that finally reached its owner",
    async () => {
      const random = createRandom(seed);
      const links = [];
      for (let index = 0; index < linkCount; index += 1) {
        links.push(await system.createLink({ toAmount: "1000000000000" }));
      }
      const startBlock = await chain.readHeadNumber();
      let watcher = await system.startWatcher();
      // A watch starts at the last finalized block.
      await system.waitUntilScanned();
      /** The transactions of the newest blocks, in block order. */
      const recentPayments: SentPayment[][] = [];
      let paidCount = 0;
      for (let mined = 1; mined <= blockCount; mined += 1) {
        const dueCount = Math.round((paymentCount * mined) / blockCount);
        const sentPayments: SentPayment[] = [];
        for (; paidCount < dueCount; paidCount += 1) {
          const link = pickRandom(random, links);
          const payer = random(payerCount) as 0 | 1 | 2;
          const amount = BigInt(1 + random(amountMax));
          sentPayments.push({ payer, hash: await chain.pay({ ...link, amount, payer }) });
        }
        await chain.mine();
        recentPayments.push(sentPayments);
        if (random(blocksPerReorg) === 0) {
          if (random(2) === 0) await system.waitUntilScanned();
          await reorganizeChain(chain, recentPayments, random);
        }
        if (random(blocksPerFault) === 0) injectRandomFault(rpc, random);
        if (random(blocksPerRestart) === 0) {
          await watcher.stop();
          watcher = await system.startWatcher();
        }
        if (mined % lagBlocksMax === 0) await waitForWatcher();
      }
      rpc.clearFaults();
      await chain.mine(2 * slotsInEpoch + 1);

      const finalizedBlock = Number(
        (await chain.client.getBlock({ blockTag: "finalized" })).number,
      );
      expect(finalizedBlock).toBeGreaterThanOrEqual(startBlock + blockCount);
      const expectedTotals = await readTotalsFromChain(links, finalizedBlock);
      await waitUntil("all payments in final blocks are settled and published", () =>
        isAllPublished(finalizedBlock),
      );
      expect(await readCreditedTotals(links)).toEqual(expectedTotals);
      expect((await system.readProgress()).haltedReason).toBeNull();
      const { logLines } = system.settlements;
      expect(
        logLines.filter((line) => line.includes("reorg orphaned scanned blocks")),
      ).not.toHaveLength(0);
    },
    runMsMax,
  );

  const waitForWatcher = async (): Promise<void> => {
    const head = await chain.readHeadNumber();
    await waitUntil(
      "the watcher keeps up",
      async () => ((await system.readProgress()).scannedTo ?? 0) >= head - lagBlocksMax,
    );
  };

  /** Returns whether every final payment is settled and every event is applied. */
  const isAllPublished = async (finalizedBlock: number): Promise<boolean> => {
    const { auditedTo } = await system.readProgress();
    if (auditedTo === null || auditedTo < finalizedBlock) return false;
    const { rows } = await system.settlementsDatabase.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM settlement_listener.outbox)::int +
              (SELECT count(*) FROM settlement_listener.open_payments
               WHERE is_processing AND block_number <= $1)::int AS count`,
      [finalizedBlock],
    );
    return rows[0]?.count === 0;
  };

  type Link = { id: string; to: string };
  type LinkTotals = Record<string, { amount: string; count: number }>;

  /** Reads the totals from the node, using only the token's own events. */
  const readTotalsFromChain = async (
    links: readonly Link[],
    toBlock: number,
  ): Promise<LinkTotals> => {
    const totals: LinkTotals = {};
    for (const { id, to } of links) {
      const { amount, count } = await chain.readReceived(to, "usdc", toBlock);
      totals[id] = { amount: String(amount), count };
    }
    return totals;
  };

  /**
   * Reads each link's credited amount, in base units, and its number of payments from links-api's
   * database.
   */
  const readCreditedTotals = async (links: readonly Link[]): Promise<LinkTotals> => {
    const { rows } = await system.linksDatabase.query<{
      id: string;
      amount: string;
      count: number;
    }>(
      `SELECT id, (received_amount * 1000000)::numeric(78, 0)::text AS amount,
              current_usage AS count
       FROM links_api.links WHERE id = ANY($1)`,
      [links.map(({ id }) => id)],
    );
    return Object.fromEntries(rows.map(({ id, amount, count }) => [id, { amount, count }]));
  };
});

/**
 * Replaces the newest blocks. The first payments of each payer in these blocks are mined again in
 * any of the new blocks. The other payments are dropped, and later payments reuse their nonces.
 */
const reorganizeChain = async (
  chain: LocalEvmChain,
  recentPayments: SentPayment[][],
  random: RandomBelow,
): Promise<void> => {
  const depth = Math.min(1 + random(reorgDepthMax), recentPayments.length);
  const droppedPayments = recentPayments.splice(-depth);
  const remainingCounts = Array.from({ length: payerCount }, () => random(2 * depth + 1));
  const reminedPayments: SentPayment[][] = droppedPayments.map(() => []);
  const reminedTransactions = [];
  let offset = 0;
  for (const sentPayment of droppedPayments.flat()) {
    const remainingCount = remainingCounts[sentPayment.payer] ?? 0;
    remainingCounts[sentPayment.payer] = remainingCount - 1;
    if (remainingCount <= 0) continue;
    // The offset never decreases, because the payments of one payer must stay in nonce order.
    offset = Math.min(depth - 1, offset + random(2));
    reminedPayments[offset]?.push(sentPayment);
    reminedTransactions.push({ raw: await chain.readRawTransaction(sentPayment.hash), offset });
  }
  await chain.reorg(depth, reminedTransactions);
  recentPayments.push(...reminedPayments);
  recentPayments.splice(0, recentPayments.length - reorgDepthMax);
};

const injectRandomFault = (rpc: ScriptedRpc, random: RandomBelow): void => {
  const faults: ScriptedFault[] = [
    { kind: "empty_logs" },
    { kind: "duplicate_logs" },
    { kind: "stale_head", blockCount: 1 + random(4) },
    { kind: "rate_limited" },
    { kind: "range_limit", blocksMax: 1 + random(3) },
    { kind: "no_batches" },
    { kind: "no_receipts" },
    { kind: "garbage" },
    { kind: "nonsense" },
    { kind: "server_error" },
    { kind: "down" },
  ];
  rpc.injectFault(pickRandom(random, faults), { times: 1 + random(6) });
};

const pickRandom = <T>(random: RandomBelow, items: readonly T[]): T => {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
};

/** Mulberry32: a small random number generator that returns the same numbers on every machine. */
const createRandom = (seed: number): RandomBelow => {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let hash = Math.imul(state ^ (state >>> 15), 1 | state);
    hash = (hash + Math.imul(hash ^ (hash >>> 7), 61 | hash)) ^ hash;
    return Math.floor((((hash ^ (hash >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
};
