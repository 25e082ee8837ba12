import { afterEach, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import * as z from "zod";
import { sql } from "slonik";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type Spoiling,
  brokenAnswer,
  hostileAnswer,
  plausibleAnswer,
} from "../testing/hostile-answers.ts";
import { openChain } from "../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../testing/open-watch-rig.ts";
import { owner } from "../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../testing/scripted-rpc.ts";
import { caseCount, caseSeed } from "@payment-links/contracts/testing/property-runs";

const seed = caseSeed();

/** `finalized` is four blocks behind the head. */
const finalBlocks = 4;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));
let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
afterEach(async () => {
  await rig?.close();
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** About every other answer of a provider is another one than the node gave. */
const openHostile = async (answers: fc.Arbitrary<Spoiling>): Promise<ScriptedRpc> => {
  const rpc = await openScriptedRpc({ target: chain.url });
  rpcs.push(rpc);
  const spoilings = fc.sample(fc.option(answers, { freq: 2 }), { seed, numRuns: 2_000 });
  let answered = 0;
  const spoil = (reply: unknown): string => {
    answered += 1;
    return spoilings[answered % spoilings.length]?.spoil(reply) ?? JSON.stringify(reply);
  };
  rpc.play({ kind: "hostile", spoil });
  return rpc;
};

const blockCount = caseCount({ commit: 9, soak: 25 });
const blocksAtOnce = 3;
const settlesMsMax = 240_000;

const Row = z.object({ name: z.string() });
const readPayments = async ({ pool }: WatchRig) => {
  const rows = await pool.any(sql.type(Row)`
    SELECT concat_ws(' ', payment_link_id, source_transaction, status, trim_scale(amount)) AS name
    FROM payments
  `);
  return rows.map(({ name }) => name).toSorted();
};
const readTransfers = async ({ pool }: WatchRig) => {
  const rows = await pool.any(sql.type(Row)`
    SELECT concat_ws(' ', payment_link_id, transaction_hash, trim_scale(amount)) AS name
    FROM chain_transfers
  `);
  return rows.map(({ name }) => name).toSorted();
};

/** Pays a link in many blocks; answers each payment as a row names it, once all of them settled. */
const payAll = async (
  rig: WatchRig,
): Promise<{ linkId: string; hash: string; amount: string }[]> => {
  await rig.service.start();
  const link = await rig.hearNew();
  await waitUntil(
    "the watch has begun",
    async () => (await rig.readStatus()).scannedTo !== null,
    settlesMsMax,
  );
  const settles = (count: number) =>
    waitUntil(
      "they are settled",
      async () =>
        (await readPayments(rig)).filter((name) => name.includes(" settled ")).length >= count,
      settlesMsMax,
    );
  const paid = [];
  for (let mined = 1; mined <= blockCount; mined += 1) {
    const order = {
      reference: link.paymentReference,
      to: owner,
      amount: BigInt(mined) * 1_000_000n,
    };
    const hash = await chain.pay({ ...order, payer: (mined % 3) as 0 | 1 | 2 });
    paid.push({ linkId: link.id, hash, amount: String(mined) });
    await chain.mine();
    // The more steps it takes, the more it is told.
    if (mined % blocksAtOnce > 0) continue;
    // What the first look was not told is found by the second, which reads final blocks only.
    await chain.mine(finalBlocks);
    await settles(mined);
  }
  await chain.mine(finalBlocks);
  await settles(blockCount);
  return paid;
};

/** Errors that are no answer to a provider, but a mistake of ours. */
const mistakes = (rig: WatchRig) =>
  rig.logLines.filter((line) => /TypeError|RangeError|SyntaxError|ZodError|Slonik/.test(line));

describe(`providers of which every other answer is hostile (SEED=${seed})`, () => {
  test("a lone one that is broken: each payment settles, and no row is there besides", async () => {
    process.stderr.write(`hostile providers: SEED=${seed}\n`);
    const hostile = await openHostile(brokenAnswer);
    rig = await openWatchRig(chain, { finality: { blocks: 2 } }, [hostile.url]);
    const paid = await payAll(rig);
    expect(await readTransfers(rig)).toEqual(
      paid.map(({ amount, hash, linkId }) => `${linkId} ${hash} ${amount}`).toSorted(),
    );
    expect(await readPayments(rig)).toEqual(
      paid.map(({ amount, hash, linkId }) => `${linkId} ${hash} settled ${amount}`).toSorted(),
    );
    expect(mistakes(rig)).toEqual([]);
  }, 600_000);

  test.each(["first", "second"])(
    "the %s of two, which lies as well: what the chain holds settles, and nothing else does",
    async (place) => {
      const lies = fc.oneof(hostileAnswer, { weight: 2, arbitrary: plausibleAnswer });
      const hostile = await openHostile(lies);
      const urls = place === "first" ? [hostile.url, chain.url] : [chain.url, hostile.url];
      rig = await openWatchRig(chain, { finality: { blocks: 2 } }, urls);
      const paid = await payAll(rig);
      const settled = (await readPayments(rig)).filter((name) => !name.includes(" processing "));
      expect(settled).toEqual(
        paid.map(({ amount, hash, linkId }) => `${linkId} ${hash} settled ${amount}`).toSorted(),
      );
      expect((await rig.readStatus()).state).not.toBe("halted");
      expect(mistakes(rig)).toEqual([]);
    },
    600_000,
  );
});
