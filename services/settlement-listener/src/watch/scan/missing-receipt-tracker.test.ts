import { afterEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, startWatchRig } from "../../testing/create-watch-rig.ts";
import {
  finalizedLag,
  startWatchedSolana,
  createOrder,
} from "../../testing/start-watched-solana.ts";
import { owner } from "../../testing/samples.ts";
import { withShortDelays } from "../../testing/short-delays.ts";
import { serveJsonRpc } from "@payment-links/local-chains/serve-json-rpc";

const closeAfterTest = closeAfterEach();

/** Starts a provider that lists a transaction but returns null for it. */
const startForgetfulNode = async (target: string, methods: readonly string[]) => {
  const forgotten = new Set<unknown>();
  let deniedCount = 0;
  const server = await serveJsonRpc({
    handleCall: (method, params) => {
      if (!methods.includes(method) || !forgotten.has(params[0]))
        return callRpc(target, method, params);
      deniedCount += 1;
      return null;
    },
  });
  const waitDenied = () => waitUntil("the receipt is requested again", () => deniedCount > 1);
  return closeAfterTest({ ...server, forgotten, waitDenied });
};

let rig: WatchRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

/** More time than the scan waits for a receipt. */
const longerThanReceiptWaitMs = 130_000;

describe("a single provider that lists a transaction without a receipt", () => {
  test("stalls a Solana chain for at most two minutes, and the payment is applied once the receipt is there", async () => {
    const chain = closeAfterTest(await startWatchedSolana());
    const node = await startForgetfulNode(chain.url, ["getTransaction"]);
    const { clock, shift } = createShiftedClock();
    const watchRig = await startWatchRig(chain, {}, [node.url], withShortDelays(clock));
    rig = watchRig;
    await watchRig.waitUntilScanned();
    const [link, otherLink] = [await watchRig.receiveNewLink(), await watchRig.receiveNewLink()];
    const signature = await chain.pay(createOrder(link));
    node.forgotten.add(signature);
    chain.mine();
    await node.waitDenied();
    await chain.pay(createOrder(otherLink));
    chain.mine();
    shift.elapsedMs += longerThanReceiptWaitMs;
    await watchRig.waitForPublished(otherLink.id, 1);
    expect(watchRig.publishedPayments(link.id)).toEqual([]);
    node.forgotten.clear();
    chain.mine(finalizedLag + 2);
    await watchRig.waitForStatus(link.id, "settled");
  });

  test("stalls an EVM chain for at most two minutes, and the payment is applied once the receipt is there", async () => {
    const chain = closeAfterTest(await startEvmChain({ slotsInEpoch: 2 }));
    const node = await startForgetfulNode(chain.url, ["eth_getTransactionReceipt"]);
    const { clock, shift } = createShiftedClock();
    const watchRig = await startWatchRig(chain, {}, [node.url], withShortDelays(clock));
    rig = watchRig;
    await watchRig.waitUntilScanned();
    const [link, otherLink] = [await watchRig.receiveNewLink(), await watchRig.receiveNewLink()];
    const pay = (reference: string) => chain.pay({ reference, to: owner, amount: 7n });
    node.forgotten.add(await pay(link.paymentReference));
    await chain.mine();
    await node.waitDenied();
    await pay(otherLink.paymentReference);
    await chain.mine();
    shift.elapsedMs += longerThanReceiptWaitMs;
    await watchRig.waitForPublished(otherLink.id, 1);
    expect(watchRig.publishedPayments(link.id)).toEqual([]);
    node.forgotten.clear();
    await chain.mine(6);
    await watchRig.waitForStatus(link.id, "settled");
  });
});
