import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import {
  type RpcFaultScript,
  type ScriptedRpc,
  openScriptedRpc,
} from "@payment-links/settlement-listener/testing/scripted-rpc";
import { type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const seed = Number(process.env["SEED"] ?? randomInt(2 ** 31));
const paymentCount = Number(process.env["PAYMENTS"] ?? 2_500);
const blockCount = Number(process.env["BLOCKS"] ?? 1_000);
const linkCount = 40;
const payerCount = 3;
const amountMax = 1_000_000_000;

/** `finalized` is four blocks behind the head, so no reorg may be deeper than that. */
const slotsInEpoch = 2;
const reorgDepthMax = 3;
const reorgOneIn = 25;
const faultOneIn = 40;
const restartOneIn = 400;
/**
 * The watcher is kept this near to the head, so that it has seen the blocks that reorgs take away.
 */
const lagBlocksMax = 10;
/** To start everything, and for each block to wait for the watcher, on a machine that is busy otherwise. */
const runMsMax = 300_000 + blockCount * 500;

type Random = (below: number) => number;
type Sent = { hash: `0x${string}`; payer: number };

describe(`${paymentCount} payments over ${blockCount} blocks with reorgs and faults (SEED=${seed})`, () => {
  let chain: Chain;
  let rpc: ScriptedRpc;
  let system: PaymentSystem;

  beforeAll(async () => {
    process.stderr.write(`seeded run: SEED=${seed}\n`);
    chain = await openChain({ slotsInEpoch });
    rpc = await openScriptedRpc({ target: chain.url });
    const settings = { finality: "finalized" } as const;
    system = await openPaymentSystem({ chain, settings, rpcUrls: [rpc.url, chain.url] });
  });
  afterAll(async () => {
    await system?.close();
    await rpc?.close();
    await chain?.close();
  });

  test(
    "what each link was credited is what finally reached its owner, to the unit",
    async () => {
      const random = createRandom(seed);
      const links = [];
      for (let made = 0; made < linkCount; made += 1) {
        links.push(await system.createLink({ toAmount: "1000000000000" }));
      }
      const start = await chain.headNumber();
      let watcher = await system.startWatcher();
      // A watch begins at the last final block that exists.
      await system.scanAll();
      /** The transactions of the newest blocks, the newest last. */
      const recent: Sent[][] = [];
      let paid = 0;
      for (let mined = 1; mined <= blockCount; mined += 1) {
        const due = Math.round((paymentCount * mined) / blockCount);
        const sent: Sent[] = [];
        for (; paid < due; paid += 1) {
          const link = pick(random, links);
          const payer = random(payerCount) as 0 | 1 | 2;
          const amount = BigInt(1 + random(amountMax));
          sent.push({ payer, hash: await chain.pay({ ...link, amount, payer }) });
        }
        await chain.mine();
        recent.push(sent);
        if (random(reorgOneIn) === 0) {
          if (random(2) === 0) await system.scanAll();
          await reorganise(chain, recent, random);
        }
        if (random(faultOneIn) === 0) playAny(rpc, random);
        if (random(restartOneIn) === 0) {
          await watcher.stop();
          watcher = await system.startWatcher();
        }
        if (mined % lagBlocksMax === 0) await waitForWatcher();
      }
      rpc.heal();
      await chain.mine(2 * slotsInEpoch + 1);

      const finalized = Number((await chain.client.getBlock({ blockTag: "finalized" })).number);
      expect(finalized).toBeGreaterThanOrEqual(start + blockCount);
      const truth = await readTruth(links, finalized);
      await waitUntil("all final blocks are settled and told", () => isAllTold(finalized));
      expect(await readCredited(links)).toEqual(truth);
      expect((await system.progress()).haltedReason).toBeNull();
      const { logLines } = system.settlements;
      expect(logLines.filter((line) => line.includes("a reorg took"))).not.toHaveLength(0);
    },
    runMsMax,
  );

  const waitForWatcher = async (): Promise<void> => {
    const head = await chain.headNumber();
    await waitUntil(
      "the watcher keeps up",
      async () => ((await system.progress()).scannedTo ?? 0) >= head - lagBlocksMax,
    );
  };

  /** Whether no final payment waits to be settled, and no event to be applied. */
  const isAllTold = async (finalized: number): Promise<boolean> => {
    const { auditedTo } = await system.progress();
    if (auditedTo === null || auditedTo < finalized) return false;
    const { rows } = await system.settlementsDatabase.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM settlement_listener.outbox)::int +
              (SELECT count(*) FROM settlement_listener.open_payments
               WHERE is_processing AND block_number <= $1)::int AS count`,
      [finalized],
    );
    return rows[0]?.count === 0;
  };

  type Link = { id: string; to: string };
  type Sums = Record<string, { amount: string; count: number }>;

  /** Read from the node itself, by the token's own events only. */
  const readTruth = async (links: readonly Link[], toBlock: number): Promise<Sums> => {
    const sums: Sums = {};
    for (const { id, to } of links) {
      const { amount, count } = await chain.received(to, "usdc", toBlock);
      sums[id] = { amount: String(amount), count };
    }
    return sums;
  };

  /** What links-api has credited, in base units, and its own count of payments. */
  const readCredited = async (links: readonly Link[]): Promise<Sums> => {
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
 * Replaces the newest blocks. Of what each payer had paid there, the first payments are mined
 * again, in any of the new blocks. The others are gone, and later payments use their nonces.
 */
const reorganise = async (chain: Chain, recent: Sent[][], random: Random): Promise<void> => {
  const depth = Math.min(1 + random(reorgDepthMax), recent.length);
  const dropped = recent.splice(-depth);
  const keptCounts = Array.from({ length: payerCount }, () => random(2 * depth + 1));
  const again: Sent[][] = dropped.map(() => []);
  const remined = [];
  let offset = 0;
  for (const sent of dropped.flat()) {
    const left = keptCounts[sent.payer] ?? 0;
    keptCounts[sent.payer] = left - 1;
    if (left <= 0) continue;
    // Never a lower block: the payments of one payer stay in the order of their nonces.
    offset = Math.min(depth - 1, offset + random(2));
    again[offset]?.push(sent);
    remined.push({ raw: await chain.rawOf(sent.hash), offset });
  }
  await chain.reorg(depth, remined);
  recent.push(...again);
  recent.splice(0, recent.length - reorgDepthMax);
};

const playAny = (rpc: ScriptedRpc, random: Random): void => {
  const faults: RpcFaultScript[] = [
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
  rpc.play(pick(random, faults), { times: 1 + random(6) });
};

const pick = <T>(random: Random, list: readonly T[]): T => {
  const found = list[random(list.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
};

/** Mulberry32: small, and the same on every machine. */
const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};
