import { afterEach, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import * as z from "zod";
import { sql } from "slonik";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type Corruption,
  brokenResponse,
  hostileResponse,
  plausibleResponse,
} from "@payment-links/chains/testing/hostile-responses";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { owner } from "../testing/samples.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import { getCaseCount, getCaseSeed } from "@payment-links/runtime/testing/property-runs";

const seed = getCaseSeed();

/** `finalized` is four blocks behind the head. */
const finalBlocks = 4;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
afterEach(async () => {
  await rig?.close();
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

/** Starts a provider that corrupts about half of the node's replies. */
const startHostileProvider = async (
  corruptions: fc.Arbitrary<Corruption>,
): Promise<ScriptedRpc> => {
  const rpc = await startScriptedRpc({ target: chain.url });
  rpcs.push(rpc);
  const corruptionSamples = fc.sample(fc.option(corruptions, { freq: 2 }), {
    seed,
    numRuns: 2_000,
  });
  let replyCount = 0;
  const corruptReply = (reply: unknown): string => {
    replyCount += 1;
    return (
      corruptionSamples[replyCount % corruptionSamples.length]?.corrupt(reply) ??
      JSON.stringify(reply)
    );
  };
  rpc.injectFault({ kind: "hostile", corrupt: corruptReply });
  return rpc;
};

const blockCount = getCaseCount({ commit: 9, soak: 25 });
const blocksAtOnce = 3;
const settleTimeoutMs = 240_000;

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

/**
 * Pays a link in many blocks, and waits until all payments have settled. Returns the values that
 * each payment's row must have.
 */
const payInManyBlocks = async (
  rig: WatchRig,
): Promise<{ linkId: string; hash: string; amount: string }[]> => {
  await rig.service.start();
  const link = await rig.receiveNewLink();
  await waitUntil(
    "the watch has started",
    async () => (await rig.readStatus()).scannedTo !== null,
    settleTimeoutMs,
  );
  const waitUntilSettled = (count: number) =>
    waitUntil(
      "the payments are settled",
      async () =>
        (await readPayments(rig)).filter((name) => name.includes(" settled ")).length >= count,
      settleTimeoutMs,
    );
  const paidOrders = [];
  for (let minedCount = 1; minedCount <= blockCount; minedCount += 1) {
    const payment = {
      reference: link.paymentReference,
      to: owner,
      amount: BigInt(minedCount) * 1_000_000n,
    };
    const hash = await chain.pay({ ...payment, payer: (minedCount % 3) as 0 | 1 | 2 });
    paidOrders.push({ linkId: link.id, hash, amount: String(minedCount) });
    await chain.mine();
    // More steps of the watch mean more corrupted replies, so it waits only once per group of
    // blocks.
    if (minedCount % blocksAtOnce > 0) continue;
    // Payments that the scan missed are found by the audit, which reads final blocks only.
    await chain.mine(finalBlocks);
    await waitUntilSettled(minedCount);
  }
  await chain.mine(finalBlocks);
  await waitUntilSettled(blockCount);
  return paidOrders;
};

/** Lists errors that indicate our own bugs rather than provider faults. */
const listInternalErrors = (rig: WatchRig) =>
  rig.logLines.filter((line) => /TypeError|RangeError|SyntaxError|ZodError|Slonik/.test(line));

describe(`providers that corrupt every other reply (SEED=${seed})`, () => {
  test("every payment settles with a single broken provider, and no other row exists", async () => {
    process.stderr.write(`hostile providers: SEED=${seed}\n`);
    const hostileRpc = await startHostileProvider(brokenResponse);
    rig = await createWatchRig(chain, { finality: { blocks: 2 } }, [hostileRpc.url]);
    const payments = await payInManyBlocks(rig);
    expect(await readTransfers(rig)).toEqual(
      payments.map(({ amount, hash, linkId }) => `${linkId} ${hash} ${amount}`).toSorted(),
    );
    expect(await readPayments(rig)).toEqual(
      payments.map(({ amount, hash, linkId }) => `${linkId} ${hash} settled ${amount}`).toSorted(),
    );
    expect(listInternalErrors(rig)).toEqual([]);
  }, 600_000);

  test.each(["first", "second"])(
    "if the %s of two providers also misreports, exactly the payments on the chain settle",
    async (position) => {
      const misreports = fc.oneof(hostileResponse, { weight: 2, arbitrary: plausibleResponse });
      const hostileRpc = await startHostileProvider(misreports);
      const urls = position === "first" ? [hostileRpc.url, chain.url] : [chain.url, hostileRpc.url];
      rig = await createWatchRig(chain, { finality: { blocks: 2 } }, urls);
      const payments = await payInManyBlocks(rig);
      const settledRows = (await readPayments(rig)).filter(
        (name) => !name.includes(" processing "),
      );
      expect(settledRows).toEqual(
        payments
          .map(({ amount, hash, linkId }) => `${linkId} ${hash} settled ${amount}`)
          .toSorted(),
      );
      expect((await rig.readStatus()).state).not.toBe("halted");
      expect(listInternalErrors(rig)).toEqual([]);
    },
    600_000,
  );
});
