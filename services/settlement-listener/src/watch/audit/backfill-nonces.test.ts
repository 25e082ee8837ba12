import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { createAcceleratedClock } from "../../testing/short-delays.ts";
import { type ScriptedRpc, startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

const { clock, waitAccelerated } = createAcceleratedClock();

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/** Starts a watch with two providers, and waits until it has caught up. */
const startCaughtUpWatch = async () => {
  const [first, second] = [
    await startScriptedRpc({ target: chain.url }),
    await startScriptedRpc({ target: chain.url }),
  ];
  rpcs.push(first, second);
  rig = await createWatchRig(chain, { finality: "finalized" }, [first.url, second.url], clock);
  await rig.service.start();
  await rig.waitUntilScanned();
  return { rig, first, second };
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const publishedStatuses = (rig: WatchRig, linkId: string) =>
  rig.publishedPayments(linkId).map(({ status }) => status);

/** Pays a link in the newest block, and waits until the payment is seen. */
const payAndWaitSeen = async (rig: WatchRig, payer: 0 | 1 | 2) => {
  const link = await rig.receiveNewLink();
  const payment = { reference: link.paymentReference, to: owner, amount: 7n, payer } as const;
  const hash = await chain.pay(payment);
  await chain.mine();
  await waitUntil("the payment is published", () => publishedStatuses(rig, link.id).length === 1);
  return { link, hash, spend: await createReplacer(hash) };
};

/**
 * Returns a function that mines another transaction with the same sender and nonce, and many blocks
 * on top.
 */
const createReplacer = async (hash: Hex) => {
  const { from, gasPrice = 0n, nonce } = await chain.client.getTransaction({ hash });
  const toHex = (value: bigint | number) => `0x${value.toString(16)}`;
  const replacement = { from, to: from, nonce: toHex(nonce), gasPrice: toHex(gasPrice * 3n + 1n) };
  return async () => {
    await chain.callRpc("eth_sendTransaction", [replacement]);
    await chain.mine(finalBlocks + 2);
  };
};

const replaceSender = (reply: unknown): string =>
  JSON.stringify(reply, (key, value: unknown) => (key === "from" ? `0x${"6".repeat(40)}` : value));

const isNonceKnown = (rig: WatchRig, hash: string) =>
  rig.pool.exists(sqlVoid`
    SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND nonce IS NOT NULL
  `);

const readJobFailing = async (rig: WatchRig, job: string): Promise<string | undefined> => {
  const pattern = new RegExp(`payment_links_chain_duty_failing\\{[^}]*duty="${job}"[^}]*\\} (.)\n`);
  return pattern.exec(await rig.metrics.metrics())?.[1];
};

describe("a payment whose nonce was unknown when it was seen", () => {
  test("fails once it is replaced, if two providers returned its nonce while a block held it", async () => {
    const { rig, second } = await startCaughtUpWatch();
    const outage = second.injectFault({ kind: "down" });
    const { hash, link, spend } = await payAndWaitSeen(rig, 1);
    expect(await isNonceKnown(rig, hash)).toBe(false);
    outage.stop();
    await waitAccelerated("the nonce is stored", () => isNonceKnown(rig, hash));
    await chain.reorg(1);
    await spend();
    await waitAccelerated("the payment fails", () =>
      publishedStatuses(rig, link.id).includes("failed"),
    );
  });

  test("fails also if they returned it while the transaction waited to be mined again", async () => {
    const { rig, second } = await startCaughtUpWatch();
    const outage = second.injectFault({ kind: "down" });
    const { hash, link, spend } = await payAndWaitSeen(rig, 2);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await rig.waitUntilScanned();
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    outage.stop();
    await waitAccelerated("the nonce is stored", () => isNonceKnown(rig, hash));
    await spend();
    await waitAccelerated("the payment fails", () =>
      publishedStatuses(rig, link.id).includes("failed"),
    );
  });

  // Guards against a payment that stays processing forever because one provider reported a wrong
  // sender.
  test.each([
    ["its receipt", ["eth_getTransactionReceipt"]],
    ["its receipt and the transaction", ["eth_getTransactionReceipt", "eth_getTransactionByHash"]],
  ])(
    "fails also if the first provider misreported its sender in %s until shortly before the reorg",
    async (_what, methods) => {
      const { rig, first } = await startCaughtUpWatch();
      const playedFault = first.injectFault(
        { kind: "hostile", corrupt: replaceSender },
        { methods },
      );
      const { hash, link, spend } = await payAndWaitSeen(rig, 1);
      playedFault.stop();
      await waitAccelerated("the nonce is stored", () => isNonceKnown(rig, hash));
      await chain.reorg(1);
      await spend();
      await waitAccelerated("the payment fails", () =>
        publishedStatuses(rig, link.id).includes("failed"),
      );
    },
  );

  test("settles while its nonce stays unknown, which delays no other job and is reported", async () => {
    const { rig, second } = await startCaughtUpWatch();
    const methods = ["eth_getTransactionByHash"];
    const playedFault = second.injectFault({ kind: "nonsense" }, { methods });
    const { link } = await payAndWaitSeen(rig, 0);
    await waitUntil(
      "the failing job is reported",
      async () => (await readJobFailing(rig, "learn")) === "1",
    );
    expect(await readJobFailing(rig, "judge")).toBe("0");
    await chain.mine(finalBlocks + 2);
    await waitUntil("the payment settles", () =>
      publishedStatuses(rig, link.id).includes("settled"),
    );
    await waitAccelerated(
      "the job succeeds again",
      async () => (await readJobFailing(rig, "learn")) === "0",
    );
    expect(playedFault.getHitCount()).toBeGreaterThan(0);
  });

  test("stays processing, and fails no job, if no node knows it any more (rule CHAIN-5)", async () => {
    const { rig, first, second } = await startCaughtUpWatch();
    const outage = second.injectFault({ kind: "down" });
    const { link, spend } = await payAndWaitSeen(rig, 1);
    await chain.reorg(1);
    await rig.waitUntilScanned();
    outage.stop();
    await spend();
    await waitUntil("the providers agree", async () => (await rig.readStatus()).reason === null);
    const countNonceRequests = () => first.getCounts().methods.get("eth_getTransactionCount") ?? 0;
    await waitUntil("the orphaned payment is checked", () => countNonceRequests() > 0);
    await waitAccelerated(
      "the job no longer fails",
      async () => (await readJobFailing(rig, "learn")) === "0",
    );
    expect(publishedStatuses(rig, link.id)).toEqual(["processing"]);
  });
});
