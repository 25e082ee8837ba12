import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../testing/create-watch-rig.ts";
import { owner } from "../testing/samples.ts";
import { startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";

const chain = useRig(() => startEvmChain({ slotsInEpoch: 4 }));

let rig: WatchRig | undefined;
afterEach(() => rig?.close());

const unrelatedPaymentCount = 10_000;
const paymentsPerTransaction = 100;
/** One in this many unrelated payments uses a catalogue token. */
const listedTokenEvery = 5;

describe("a block with 10,000 unrelated payments", () => {
  test("passes a node with a log limit, and settles our payment as well as one whose link comes later", async () => {
    const rpc = await startScriptedRpc({ target: chain.url });
    const message = "query returned more than 10000 results. Try with this block range [0x1, 0x2].";
    const limit = { unit: "logs", max: unrelatedPaymentCount, code: -32005, message } as const;
    rpc.injectFault({ kind: "limited", limits: [limit] });
    rig = await createWatchRig(chain, { finality: "finalized" }, [rpc.url]);
    await rig.service.start();
    const { receiveLinks, sampleLink, publishedPayments } = rig;
    const [link, lateLink] = [sampleLink(), sampleLink()];
    await receiveLinks(link);
    await rig.waitUntilScanned();

    await chain.callRpc("evm_setBlockGasLimit", ["0x77359400"]);
    const references = Array.from({ length: unrelatedPaymentCount }, () =>
      randomBytes(16).toString("hex"),
    );
    references[0] = lateLink.paymentReference;
    for (let offset = 0; offset < unrelatedPaymentCount; offset += paymentsPerTransaction) {
      await chain.payInOneTransaction(
        references.slice(offset, offset + paymentsPerTransaction).map((reference, index) => ({
          reference,
          to: owner,
          amount: 1n,
          token: index % listedTokenEvery === 0 ? ("usdc" as const) : ("unlisted" as const),
        })),
      );
    }
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n, payer: 1 });
    await chain.mine();
    const block = await chain.client.getBlock();
    expect(block.transactions).toHaveLength(unrelatedPaymentCount / paymentsPerTransaction + 1);
    await chain.mine(10);

    const waitUntilSettled = (linkId: string) =>
      waitUntil(
        "the payment is settled",
        () => publishedPayments(linkId).at(-1)?.status === "settled",
      );
    await waitUntilSettled(link.id);
    await receiveLinks(lateLink);
    await waitUntilSettled(lateLink.id);
    const { readStatus } = rig;
    await waitUntil("the chain is watched", async () => (await readStatus()).state === "watching");
    await rpc.close();
  });
});
