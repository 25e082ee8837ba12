import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createCatalogue, keccak256Hex, newId, toEip55 } from "@payment-links/contracts";
import { openTestGround } from "@payment-links/process/testing";
import { openLog, openMetrics, readConfig, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { openScatterer } from "@payment-links/settlement-listener/testing/open-scatterer";
import { openBenchPostgres, say } from "./bench-postgres.ts";
import { median } from "./load.ts";
import type { Verdict } from "./rounds.ts";
import { forgetChain, openBus, rememberBeginning } from "./watch.ts";

const ownerCount = 10_000;
const blockCount = 1_000;
const transfersPerBlock = 200;
/** Every so many blocks one of the transfers is ours; a payment through the proxy in as many others. */
const blocksPerDeposit = 2;
const blocksPerPayment = 4;
const depositor = 2;
const roundCount = 5;
/** `finalized` is twice as many blocks behind the head: first none of the blocks is, then all are. */
const slotsInEpoch = 600;
const runMsMax = 180_000;
const lookMs = 3;
const minedAtOnceMax = 100;

type Work = { head: number; payments: number; deposits: number };
type Times = Record<"with" | "without", number[]>;

/**
 * One watcher over 1,000 blocks with 200,000 transfers of a token, of which 500 go to one of 10,000
 * owners and name no link, beside 250 payments. It is compared with a watcher that looks for payments
 * alone: over blocks that are new, whose headers it reads, and over blocks that are final.
 */
export const benchDeposits = async (): Promise<Verdict> => {
  const postgres = await openBenchPostgres();
  const chain = await openChain({ slotsInEpoch });
  const owners = Array.from({ length: ownerCount }, () => `0x${randomBytes(20).toString("hex")}`);
  const shop = await openShop(chain, owners);
  try {
    const work = await mineAll(chain, owners, shop.references);
    say("watching new blocks");
    const fresh = await measure(shop, work);
    for (let left = 2 * slotsInEpoch + 1; left > 0; left -= minedAtOnceMax) {
      await chain.mine(Math.min(left, minedAtOnceMax));
    }
    say("watching final blocks");
    const final = await measure(shop, { ...work, head: await chain.headNumber() });
    const perSecond = (list: readonly number[]) => Math.round(blockCount / (median(list) / 1000));
    const ratioOf = (times: Times) =>
      Number((median(times.without) / median(times.with)).toFixed(3));
    return {
      ours: perSecond(fresh.with),
      floor: perSecond(fresh.without),
      ratio: ratioOf(fresh),
      unit: "blocks/s",
      found: work.deposits,
      ofFinalBlocks: {
        ours: perSecond(final.with),
        floor: perSecond(final.without),
        ratio: ratioOf(final),
      },
    };
  } finally {
    await shop.close();
    await chain.close();
    await postgres.close();
  }
};

type Shop = Awaited<ReturnType<typeof openShop>>;

const measure = async (shop: Shop, work: Work): Promise<Times> => {
  const times: Times = { with: [], without: [] };
  const run = async (kind: keyof Times) => times[kind].push(await shop.run(work, kind === "with"));
  for (let round = 0; round < roundCount; round += 1) {
    const kinds = ["with", "without"] as const;
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) await run(kind);
    const [a = 0, b = 0] = [times.with.at(-1), times.without.at(-1)];
    const shown = `with deposits ${(a / 1000).toFixed(2)} s, without ${(b / 1000).toFixed(2)} s`;
    process.stdout.write(`round ${round + 1}: ${shown}\n`);
  }
  return times;
};

const mineAll = async (
  chain: Chain,
  owners: readonly string[],
  references: readonly string[],
): Promise<Work> => {
  say(`mining ${blockCount} blocks of ${transfersPerBlock} transfers`);
  const { scatter } = await openScatterer(chain);
  // anvil recovers who signed a transaction each time that it is asked for it, by a library eight times as
  // slow as other nodes'; of whom it impersonates it keeps that.
  await chain.ask("anvil_impersonateAccount", [chain.payers[depositor]]);
  let [payments, deposits] = [0, 0];
  for (let block = 0; block < blockCount; block += 1) {
    const isOurs = block % blocksPerDeposit === 0;
    await scatter([], transfersPerBlock - (isOurs ? 1 : 0), 1_000_000n);
    if (isOurs) {
      // In a transaction of its own, as money comes: its receipt is small.
      const to = owners[(deposits * 19) % owners.length] ?? "";
      await chain.give({ to, amount: 1_000_000n, payer: depositor });
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
  return { head: await chain.headNumber(), payments, deposits };
};

/** A listener's database with a link of each owner. */
const openShop = async (chain: Chain, owners: readonly string[]) => {
  const directory = await mkdtemp(join(tmpdir(), "bench-deposits-"));
  const test = await openTestGround({
    name: "settlement-listener",
    migration: settlementListenerMigration,
  });
  const admin = new Client({ connectionString: test.database.adminUrl });
  await admin.connect();
  const references = owners.map(() => randomBytes(16).toString("hex"));
  await admin.query(addLinks, [
    owners.map(() => newId("plink")),
    owners.map(toEip55),
    references,
    references.map((reference) => keccak256Hex(reference)),
    chain.chainId,
    chain.addressOf("usdc"),
  ]);
  await admin.query(
    "VACUUM ANALYZE settlement_listener.links, settlement_listener.owner_addresses",
  );

  const open = async (findsDeposits: boolean) => {
    const chainsFile = join(directory, "chains.json");
    const settings = { finality: { blocks: 1 }, headLagBlocks: 0, pollMs: 50, findsDeposits };
    await writeFile(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
    const ground = {
      ...test.ground,
      catalogue: createCatalogue(chain.catalogueData),
      log: openLog({ service: "bench", level: "error" }),
      metrics: openMetrics("settlement-listener"),
      clock: systemClock,
      bus: openBus(() => Promise.reject(new Error("away"))),
    };
    const config = readConfig(settlementListenerConfig, {
      RPC_URLS: `${chain.chainId}=${chain.url}`,
      CHAINS_FILE: chainsFile,
    });
    return createSettlementListener(ground, config);
  };
  const isTrue = async (text: string, values: unknown[]): Promise<boolean> =>
    (await admin.query({ name: text.slice(0, 60), text, values })).rowCount === 1;

  const service = await open(true);
  await service.start();
  await waitUntil("the watch has begun", () =>
    isTrue("SELECT FROM settlement_listener.watchers WHERE first_block IS NOT NULL", []),
  );
  await service.stop();
  await admin.query(rememberBeginning);

  return {
    references,
    /**
     * How long one watcher takes from the first block to the last payment settled, in milliseconds. It
     * has been through all of it once: what a process does a single time is no time of a block.
     */
    run: async ({ deposits, head, payments }: Work, findsDeposits: boolean): Promise<number> => {
      await admin.query(forgetChain);
      const running = await open(findsDeposits);
      const catchUp = async (): Promise<number> => {
        const startedAt = performance.now();
        const look = async (text: string, values: unknown[]): Promise<void> => {
          while (!(await isTrue(text, values))) {
            if (performance.now() - startedAt > runMsMax) throw new Error("it does not catch up");
            await sleep(lookMs);
          }
        };
        await look("SELECT FROM settlement_listener.watchers WHERE scanned_to >= $1", [head]);
        await look(areSettled, [payments, findsDeposits ? deposits : 0]);
        return performance.now() - startedAt;
      };
      await running.start();
      await catchUp();
      await admin.query(goBack);
      const tookMs = await catchUp();
      await running.stop();
      return tookMs;
    },
    close: async () => {
      await admin.end();
      await test.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** A running watch goes on from its first block: between its steps it keeps nothing. */
const goBack = `
  TRUNCATE settlement_listener.chain_blocks, settlement_listener.read_spans,
    settlement_listener.chain_transfers, settlement_listener.payments, settlement_listener.outbox;
  INSERT INTO settlement_listener.chain_blocks SELECT * FROM settlement_listener.begun_blocks;
  UPDATE settlement_listener.watchers
    SET scanned_to = first_block, finalized_to = first_block, audited_to = first_block
`;

const areSettled = `
  SELECT FROM (
    SELECT count(*) FILTER (WHERE payer IS NULL) AS payments, count(payer) AS deposits
    FROM settlement_listener.payments WHERE status = 'settled'
  ) AS settled WHERE payments = $1 AND deposits = $2
`;

const addLinks = `
  INSERT INTO settlement_listener.links (id, version, chain_id, token_address,
    destination_address, payment_reference, payment_reference_hash)
  SELECT id, 1, $5, $6, address, reference, hash
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS link (id, address, reference, hash)
`;
