import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "../../testing/start-evm-chain.ts";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { createAcceleratedClock } from "../../testing/short-delays.ts";
import { type ScriptedRpc, startScriptedRpc } from "../../testing/scripted-rpc.ts";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

const { clock, waitAccelerated } = createAcceleratedClock();

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/** A watch over two providers that has caught up. */
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

/** A payment that is seen in the newest block. */
const payAndWaitSeen = async (rig: WatchRig, payer: 0 | 1 | 2) => {
  const link = await rig.receiveNewLink();
  const payment = { reference: link.paymentReference, to: owner, amount: 7n, payer } as const;
  const hash = await chain.pay(payment);
  await chain.mine();
  await waitUntil("it is seen", () => publishedStatuses(rig, link.id).length === 1);
  return { link, hash, spend: await createReplacer(hash) };
};

/** Mines another transaction of the same sender and nonce, under many blocks. */
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

describe("a payment whose nonce was not told when it was seen", () => {
  test("fails once it is replaced, if two providers told its nonce while it stood", async () => {
    const { rig, second } = await startCaughtUpWatch();
    const outage = second.injectFault({ kind: "down" });
    const { hash, link, spend } = await payAndWaitSeen(rig, 1);
    expect(await isNonceKnown(rig, hash)).toBe(false);
    outage.stop();
    await waitAccelerated("its nonce is learnt", () => isNonceKnown(rig, hash));
    await chain.reorg(1);
    await spend();
    await waitAccelerated("it fails", () => publishedStatuses(rig, link.id).includes("failed"));
  });

  test("fails as well if they told it while it waited to be mined again", async () => {
    const { rig, second } = await startCaughtUpWatch();
    const outage = second.injectFault({ kind: "down" });
    const { hash, link, spend } = await payAndWaitSeen(rig, 2);
    const raw = await chain.readRawTransaction(hash);
    await chain.reorg(1);
    await rig.waitUntilScanned();
    await chain.callRpc("eth_sendRawTransaction", [raw]);
    outage.stop();
    await waitAccelerated("its nonce is learnt", () => isNonceKnown(rig, hash));
    await spend();
    await waitAccelerated("it fails", () => publishedStatuses(rig, link.id).includes("failed"));
  });

  // Guards against a payment that stays processing for ever, as its sender is one provider's word.
  test.each([
    ["its receipt", ["eth_getTransactionReceipt"]],
    ["its receipt and the transaction", ["eth_getTransactionReceipt", "eth_getTransactionByHash"]],
  ])(
    "fails as well if the first one's lie of the sender, by %s, ended while it stood",
    async (_what, methods) => {
      const { rig, first } = await startCaughtUpWatch();
      const playedFault = first.injectFault(
        { kind: "hostile", corrupt: replaceSender },
        { methods },
      );
      const { hash, link, spend } = await payAndWaitSeen(rig, 1);
      playedFault.stop();
      await waitAccelerated("its nonce is learnt", () => isNonceKnown(rig, hash));
      await chain.reorg(1);
      await spend();
      await waitAccelerated("it fails", () => publishedStatuses(rig, link.id).includes("failed"));
    },
  );

  test("settles, and holds up no other duty, while nobody tells it; that is counted", async () => {
    const { rig, second } = await startCaughtUpWatch();
    const methods = ["eth_getTransactionByHash"];
    const playedFault = second.injectFault({ kind: "nonsense" }, { methods });
    const { link } = await payAndWaitSeen(rig, 0);
    await waitUntil("it is told", async () => (await readJobFailing(rig, "learn")) === "1");
    expect(await readJobFailing(rig, "judge")).toBe("0");
    await chain.mine(finalBlocks + 2);
    await waitUntil("it settles", () => publishedStatuses(rig, link.id).includes("settled"));
    await waitAccelerated("all is well", async () => (await readJobFailing(rig, "learn")) === "0");
    expect(playedFault.getHitCount()).toBeGreaterThan(0);
  });

  test("stays in processing, and no duty fails for it, where nobody knows it any more (rule CHAIN-5)", async () => {
    const { rig, first, second } = await startCaughtUpWatch();
    const outage = second.injectFault({ kind: "down" });
    const { link, spend } = await payAndWaitSeen(rig, 1);
    await chain.reorg(1);
    await rig.waitUntilScanned();
    outage.stop();
    await spend();
    await waitUntil("providers agree", async () => (await rig.readStatus()).reason === null);
    const countNonceRequests = () => first.getCounts().methods.get("eth_getTransactionCount") ?? 0;
    await waitUntil("it is judged", () => countNonceRequests() > 0);
    await waitAccelerated(
      "it is given up",
      async () => (await readJobFailing(rig, "learn")) === "0",
    );
    expect(publishedStatuses(rig, link.id)).toEqual(["processing"]);
  });
});
