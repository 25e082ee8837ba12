import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Bus } from "@payment-links/bus";
import { createCatalogue, keccak256Hex, newId } from "@payment-links/contracts";
import { openTestGround } from "@payment-links/process/testing";
import { openLog, openMetrics, readConfig, systemClock } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { fetchPayments } from "@payment-links/settlement-listener/testing/fetch-payments";
import { openScriptedRpc } from "@payment-links/settlement-listener/testing/scripted-rpc";
import { waitUntil } from "@payment-links/runtime/testing";
import { openBareWatch } from "./bare-watch.ts";
import { openBenchPostgres, say } from "./bench-postgres.ts";
import { median } from "./load.ts";
import type { Verdict } from "./rounds.ts";

const blockCount = 10_000;
/** One of this many blocks holds a payment; the rest are empty. */
const blocksPerPayment = 4;
const paidLinkCount = 500;
export const fewLinks = 1_000;
const manyLinks = 1_000_000;
/** Until all take as long as the time before: the compiler improves what runs often. */
const warmUpCount = 10;
const roundCount = 9;
const rangeBlocksMax = 2_000;
const catchUpMsMax = 120_000;
const lookMs = 3;

/**
 * One watcher catches up with a chain of final blocks over a real Postgres, from nothing to the
 * last payment settled and its event written. It is compared with a loop that fetches the same logs
 * and receipts and does nothing with them, and with bare clients that write the same rows. There is
 * one provider, so that nobody makes a second pass. Then the same with a thousand and with a million
 * open links: calls counted, time compared.
 */
export const benchWatch = async (): Promise<Verdict> => {
  const postgres = await openBenchPostgres();
  const chain = await openChain({ slotsInEpoch: 1 });
  const few = await openShop(chain, fewLinks);
  const many = await openShop(chain, manyLinks);
  try {
    const references = few.references;
    await many.addLinks(references);
    const payments = await payMany(chain, references);
    const head = await finalNumber(chain);
    const work = { payments, head };

    say("counting calls");
    const calls = { few: await few.countCalls(work), many: await many.countCalls(work) };
    const times: Times = { few: [], many: [], bare: [], floor: [] };
    const measureFloor = () => timeFloor(chain, work);
    for (let run = 0; run < warmUpCount; run += 1) {
      await few.catchUp(work);
      await few.catchUpBare(work);
      await measureFloor();
    }
    for (let round = 0; round < roundCount; round += 1) {
      const turns = [
        async () => times.few.push(await few.catchUp(work)),
        async () => times.floor.push(await measureFloor()),
        async () => times.bare.push(await few.catchUpBare(work)),
        async () => times.many.push(await many.catchUp(work)),
      ];
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
      tell(round, times);
    }
    return verdictOf(work, times, calls);
  } finally {
    await few.close();
    await many.close();
    await chain.close();
    await postgres.close();
  }
};

type Work = { payments: number; head: number };
type Times = Record<"few" | "many" | "bare" | "floor", number[]>;
type Calls = { rpc: number; sql: number };

const tell = (round: number, times: Times): void => {
  const shown = Object.entries(times).map(
    ([name, list]) => `${name} ${((list.at(-1) ?? 0) / 1000).toFixed(2)} s`,
  );
  process.stdout.write(`round ${round + 1}: ${shown.join(", ")}\n`);
};

const verdictOf = (
  { payments, head }: Work,
  times: Times,
  calls: Record<"few" | "many", Calls>,
): Verdict => {
  const perSecond = (count: number, list: readonly number[]) =>
    Math.round(count / (median(list) / 1000));
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

const timeFloor = async (chain: Chain, { head, payments }: Work): Promise<number> => {
  const startedAt = performance.now();
  const range = { url: chain.url, fromBlock: 0, toBlock: head, rangeBlocksMax };
  let count = 0;
  for await (const { receipts } of fetchPayments(range)) count += receipts.length;
  if (count !== payments) throw new Error(`the floor fetched ${count} of ${payments}`);
  return performance.now() - startedAt;
};

const to = "0x1111111111111111111111111111111111111111";

/** Pays links by their references on a chain that then is caught up with; answers how often. */
export const payMany = async (chain: Chain, references: readonly string[]): Promise<number> => {
  say(`mining ${blockCount} blocks with a payment in every ${blocksPerPayment}th`);
  let paid = 0;
  for (let mined = 0; mined < blockCount; mined += blocksPerPayment) {
    const reference = references[paid % references.length] ?? "";
    await chain.pay({ reference, to, amount: BigInt(paid + 1), payer: (paid % 3) as 0 | 1 | 2 });
    await chain.ask("anvil_mine", [`0x${blocksPerPayment.toString(16)}`]);
    paid += 1;
  }
  await chain.mine(2);
  return paid;
};

/** The last block that is final. */
export const finalNumber = async (chain: Chain): Promise<number> =>
  Number((await chain.client.getBlock({ blockTag: "finalized" })).number);

/** Events go nowhere: another bench measures what happens to them. */
export const openBus = (publish: Bus["publish"]): Bus => ({
  sendTimeoutMs: 0,
  pollMs: 1_000,
  publish,
  subscribe: async () => ({ stop: async () => undefined }),
  close: async () => undefined,
});

/** A listener's database with that many open links in it. */
export const openShop = async (chain: Chain, linkCount: number) => {
  say(`making ${linkCount} links`);
  const directory = await mkdtemp(join(tmpdir(), "bench-watch-"));
  const chainsFile = join(directory, "chains.json");
  const settings = { finality: "finalized", headLagBlocks: 0, rangeBlocksMax, pollMs: 50 };
  await writeFile(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
  const test = await openTestGround({
    name: "settlement-listener",
    migration: settlementListenerMigration,
  });
  const admin = new Client({ connectionString: test.database.adminUrl });
  await admin.connect();
  const bare = await openBareWatch(test.database.adminUrl);
  await admin.query(fillLinks, [linkCount, chain.chainId, chain.addressOf("usdc"), to]);
  const references = Array.from({ length: paidLinkCount }, () => randomBytes(16).toString("hex"));
  const addLinks = async (references: readonly string[]): Promise<void> => {
    await admin.query(addPaidLinks, [
      references.map(() => newId("plink")),
      references,
      references.map((reference) => keccak256Hex(reference)),
      chain.chainId,
      chain.addressOf("usdc"),
      to,
    ]);
    await admin.query("VACUUM ANALYZE settlement_listener.links");
    // So that none of it is written out while something is measured.
    await admin.query("CHECKPOINT");
  };

  const open = (url: string, change: Partial<typeof test.ground>) => {
    const ground = {
      ...test.ground,
      catalogue: createCatalogue(chain.catalogueData),
      log: openLog({ service: "bench", level: "error" }),
      metrics: openMetrics("settlement-listener"),
      ...change,
    };
    const config = readConfig(settlementListenerConfig, {
      EVM_RPC_URLS: `${chain.chainId}=${url}`,
      EVM_CHAINS_FILE: chainsFile,
    });
    return createSettlementListener(ground, config);
  };

  /** The checkpoint moves together with what was found, and is the cheapest thing to look at. */
  const isThere = async ({ head }: Work): Promise<boolean> => {
    const { rowCount } = await admin.query({
      // Planned once, as it runs on the two cores that are measured.
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

  const forget = () => admin.query(forgetChain);

  const begin = async (): Promise<void> => {
    const service = open(chain.url, { clock: systemClock, bus: openBus(() => Promise.resolve()) });
    await service.start();
    await waitUntil("the watch has begun", async () => {
      const { rowCount } = await admin.query(
        "SELECT FROM settlement_listener.watchers WHERE first_block IS NOT NULL",
      );
      return rowCount === 1;
    });
    await service.stop();
    await admin.query(rememberBeginning);
  };

  await addLinks(references);
  await begin();
  return {
    references,
    addLinks,
    /** How long one watcher takes from nothing to the last payment, in milliseconds. */
    catchUp: async (work: Work): Promise<number> => {
      await forget();
      const service = open(chain.url, {
        clock: systemClock,
        bus: openBus(() => Promise.reject(new Error("away"))),
      });
      const startedAt = performance.now();
      await service.start();
      // Often, as what it looks late by would count as time that the watcher took.
      while (!(await isThere(work))) {
        if (performance.now() - startedAt > catchUpMsMax) throw new Error("it does not catch up");
        await sleep(lookMs);
      }
      const tookMs = performance.now() - startedAt;
      await service.stop();
      await checkSettled(work);
      return tookMs;
    },
    /** The same by {@link openBareWatch}. */
    catchUpBare: async (work: Work): Promise<number> => {
      await forget();
      const startedAt = performance.now();
      const range = { url: chain.url, fromBlock: 0, toBlock: work.head, rangeBlocksMax };
      await bare.catchUp(chain.chainId, range);
      const tookMs = performance.now() - startedAt;
      await checkSettled(work);
      return tookMs;
    },
    /**
     * The same with a clock that stands still and a bus that is away, so that nothing else is
     * counted.
     */
    countCalls: async (work: Work): Promise<Calls> => {
      await forget();
      const rpc = await openScriptedRpc({ target: chain.url });
      const service = open(rpc.url, { bus: openBus(() => Promise.reject(new Error("away"))) });
      const statements = countStatements(admin);
      await service.start();
      await waitUntil("it has caught up", () => isThere(work), catchUpMsMax);
      const calls = { rpc: rpc.counts().calls, sql: statements.stop() };
      await service.stop();
      await rpc.close();
      return calls;
    },
    close: async () => {
      await bare.close();
      await admin.end();
      await test.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** Counts what all connections of this process but one send to Postgres, until it is stopped. */
const countStatements = (except: Client): { stop: () => number } => {
  const query = Reflect.get(Client.prototype, "query");
  let count = 0;
  const counting = function (this: Client, ...given: unknown[]): unknown {
    if (this !== except) count += 1;
    return Reflect.apply(query, this, given);
  };
  Client.prototype.query = counting as Client["query"];
  return {
    stop: () => {
      Client.prototype.query = query;
      return count;
    },
  };
};

const fillLinks = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT 'plink_' || n, 1, $2, $3, $4, md5(n::text), '0x' || md5(n::text) || md5((-n)::text)
  FROM generate_series(1, $1::int) AS n
`;

const addPaidLinks = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT id, 1, $4, $5, $6, reference, hash
  FROM unnest($1::text[], $2::text[], $3::text[]) AS paid (id, reference, hash)
`;

/**
 * A watch begins at the last final block that exists: each run begins with what that block holds.
 */
export const rememberBeginning = `
  CREATE TABLE settlement_listener.begun_watchers AS TABLE settlement_listener.watchers;
  CREATE TABLE settlement_listener.begun_blocks AS
    SELECT chain_blocks.* FROM settlement_listener.chain_blocks, settlement_listener.watchers
    WHERE number = first_block
`;

/** Forgets all that was seen of a chain, but where its watch begins. */
export const forgetChain = `
  TRUNCATE settlement_listener.watchers, settlement_listener.chain_blocks,
    settlement_listener.read_spans,
    settlement_listener.chain_transfers, settlement_listener.payments, settlement_listener.outbox;
  INSERT INTO settlement_listener.watchers SELECT * FROM settlement_listener.begun_watchers;
  INSERT INTO settlement_listener.chain_blocks SELECT * FROM settlement_listener.begun_blocks;
  UPDATE settlement_listener.watchers
    SET scanned_to = first_block, finalized_to = first_block, audited_to = first_block,
      lease_until = to_timestamp(0)
`;
