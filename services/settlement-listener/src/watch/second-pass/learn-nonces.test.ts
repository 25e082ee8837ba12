import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { nothing } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { owner } from "../../testing/samples.ts";
import { createHurriedClock } from "../../testing/short-rests.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => openChain({ slotsInEpoch: finalBlocks / 2 }));
beforeAll(() => chain.mine(20));

const { clock, waitHurried } = createHurriedClock();

let rig: WatchRig | undefined;
const rpcs: ScriptedRpc[] = [];
/** A watch over two providers that has caught up. */
const open = async () => {
  const [first, second] = [
    await openScriptedRpc({ target: chain.url }),
    await openScriptedRpc({ target: chain.url }),
  ];
  rpcs.push(first, second);
  rig = await openWatchRig(chain, { finality: "finalized" }, [first.url, second.url], clock);
  await rig.service.start();
  await rig.caughtUp();
  return { rig, first, second };
};
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  for (const rpc of rpcs.splice(0)) await rpc.close();
});

const statuses = (rig: WatchRig, linkId: string) => rig.told(linkId).map(({ status }) => status);

/** A payment that is seen in the newest block. */
const paySeen = async (rig: WatchRig, payer: 0 | 1 | 2) => {
  const link = await rig.hearNew();
  const order = { reference: link.paymentReference, to: owner, amount: 7n, payer } as const;
  const hash = await chain.pay(order);
  await chain.mine();
  await waitUntil("it is seen", () => statuses(rig, link.id).length === 1);
  return { link, hash, spend: await spender(hash) };
};

/** Mines another transaction of the same sender and nonce, under many blocks. */
const spender = async (hash: Hex) => {
  const { from, gasPrice = 0n, nonce } = await chain.client.getTransaction({ hash });
  const hex = (value: bigint | number) => `0x${value.toString(16)}`;
  const other = { from, to: from, nonce: hex(nonce), gasPrice: hex(gasPrice * 3n + 1n) };
  return async () => {
    await chain.ask("eth_sendTransaction", [other]);
    await chain.mine(finalBlocks + 2);
  };
};

const nameOtherSender = (reply: unknown): string =>
  JSON.stringify(reply, (key, value: unknown) => (key === "from" ? `0x${"6".repeat(40)}` : value));

const knowsNonce = (rig: WatchRig, hash: string) =>
  rig.pool.exists(nothing`
    SELECT FROM chain_transfers WHERE transaction_hash = ${hash} AND nonce IS NOT NULL
  `);

const dutyFails = async (rig: WatchRig, duty: string): Promise<string | undefined> => {
  const pattern = new RegExp(
    `payment_links_chain_duty_failing\\{[^}]*duty="${duty}"[^}]*\\} (.)\n`,
  );
  return pattern.exec(await rig.metrics.metrics())?.[1];
};

describe("a payment whose nonce was not told when it was seen", () => {
  test("fails once it is replaced, if two providers told its nonce while it stood", async () => {
    const { rig, second } = await open();
    const outage = second.play({ kind: "down" });
    const { hash, link, spend } = await paySeen(rig, 1);
    expect(await knowsNonce(rig, hash)).toBe(false);
    outage.stop();
    await waitHurried("its nonce is learnt", () => knowsNonce(rig, hash));
    await chain.reorg(1);
    await spend();
    await waitHurried("it fails", () => statuses(rig, link.id).includes("failed"));
  });

  test("fails as well if they told it while it waited to be mined again", async () => {
    const { rig, second } = await open();
    const outage = second.play({ kind: "down" });
    const { hash, link, spend } = await paySeen(rig, 2);
    const raw = await chain.rawOf(hash);
    await chain.reorg(1);
    await rig.caughtUp();
    await chain.ask("eth_sendRawTransaction", [raw]);
    outage.stop();
    await waitHurried("its nonce is learnt", () => knowsNonce(rig, hash));
    await spend();
    await waitHurried("it fails", () => statuses(rig, link.id).includes("failed"));
  });

  // Guards against a payment that stays processing for ever, as its sender is one provider's word.
  test.each([
    ["its receipt", ["eth_getTransactionReceipt"]],
    ["its receipt and the transaction", ["eth_getTransactionReceipt", "eth_getTransactionByHash"]],
  ])(
    "fails as well if the first one's lie of the sender, by %s, ended while it stood",
    async (_what, methods) => {
      const { rig, first } = await open();
      const lie = first.play({ kind: "hostile", spoil: nameOtherSender }, { methods });
      const { hash, link, spend } = await paySeen(rig, 1);
      lie.stop();
      await waitHurried("its nonce is learnt", () => knowsNonce(rig, hash));
      await chain.reorg(1);
      await spend();
      await waitHurried("it fails", () => statuses(rig, link.id).includes("failed"));
    },
  );

  test("settles, and holds up no other duty, while nobody tells it; that is counted", async () => {
    const { rig, second } = await open();
    const methods = ["eth_getTransactionByHash"];
    const silence = second.play({ kind: "nonsense" }, { methods });
    const { link } = await paySeen(rig, 0);
    await waitUntil("it is told", async () => (await dutyFails(rig, "learn")) === "1");
    expect(await dutyFails(rig, "judge")).toBe("0");
    await chain.mine(finalBlocks + 2);
    await waitUntil("it settles", () => statuses(rig, link.id).includes("settled"));
    await waitHurried("all is well", async () => (await dutyFails(rig, "learn")) === "0");
    expect(silence.struckCount()).toBeGreaterThan(0);
  });

  test("stays in processing, and no duty fails for it, where nobody knows it any more (rule CHAIN-5)", async () => {
    const { rig, first, second } = await open();
    const outage = second.play({ kind: "down" });
    const { link, spend } = await paySeen(rig, 1);
    await chain.reorg(1);
    await rig.caughtUp();
    outage.stop();
    await spend();
    await waitUntil("providers agree", async () => (await rig.readStatus()).reason === null);
    const asked = () => first.counts().methods.get("eth_getTransactionCount") ?? 0;
    await waitUntil("it is judged", () => asked() > 0);
    await waitHurried("it is given up", async () => (await dutyFails(rig, "learn")) === "0");
    expect(statuses(rig, link.id)).toEqual(["processing"]);
  });
});
