import { afterEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { askRpc } from "../../testing/ask-rpc.ts";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, startWatchRig } from "../../testing/open-watch-rig.ts";
import { finalizedLag, openWatchedSolana, orderOf } from "../../testing/open-watched-solana.ts";
import { owner } from "../../testing/samples.ts";
import { withShortRests } from "../../testing/short-rests.ts";
import { serveJsonRpc } from "../../testing/serve-json-rpc.ts";

const keep = closeAfterEach();

/** A lone provider that lists a transaction and answers null when it is asked for it. */
const openForgetful = async (target: string, methods: readonly string[]) => {
  const forgotten = new Set<unknown>();
  let deniedCount = 0;
  const served = await serveJsonRpc({
    answer: (method, params) => {
      if (!methods.includes(method) || !forgotten.has(params[0]))
        return askRpc(target, method, params);
      deniedCount += 1;
      return null;
    },
  });
  const waitDenied = () => waitUntil("it is asked for again", () => deniedCount > 1);
  return keep({ ...served, forgotten, waitDenied });
};

let rig: WatchRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

/** More than the scan waits for a receipt. */
const longMs = 130_000;

describe("a lone provider that lists a transaction and gives no receipt of it", () => {
  test("stalls a chain of Solana for two minutes at most, and the payment counts once it does", async () => {
    const chain = keep(await openWatchedSolana());
    const node = await openForgetful(chain.url, ["getTransaction"]);
    const { clock, shift } = createShiftedClock();
    const opened = await startWatchRig(chain, {}, [node.url], withShortRests(clock));
    rig = opened;
    await opened.caughtUp();
    const [link, other] = [await opened.hearNew(), await opened.hearNew()];
    const signature = await chain.pay(orderOf(link));
    node.forgotten.add(signature);
    chain.mine();
    await node.waitDenied();
    await chain.pay(orderOf(other));
    chain.mine();
    shift.elapsedMs += longMs;
    await opened.waitTold(other.id, 1);
    expect(opened.told(link.id)).toEqual([]);
    node.forgotten.clear();
    chain.mine(finalizedLag + 2);
    await opened.waitStatus(link.id, "settled");
  });

  test("stalls an EVM chain for two minutes at most, and the payment counts once it does", async () => {
    const chain = keep(await openChain({ slotsInEpoch: 2 }));
    const node = await openForgetful(chain.url, ["eth_getTransactionReceipt"]);
    const { clock, shift } = createShiftedClock();
    const opened = await startWatchRig(chain, {}, [node.url], withShortRests(clock));
    rig = opened;
    await opened.caughtUp();
    const [link, other] = [await opened.hearNew(), await opened.hearNew()];
    const pay = (reference: string) => chain.pay({ reference, to: owner, amount: 7n });
    node.forgotten.add(await pay(link.paymentReference));
    await chain.mine();
    await node.waitDenied();
    await pay(other.paymentReference);
    await chain.mine();
    shift.elapsedMs += longMs;
    await opened.waitTold(other.id, 1);
    expect(opened.told(link.id)).toEqual([]);
    node.forgotten.clear();
    await chain.mine(6);
    await opened.waitStatus(link.id, "settled");
  });
});
