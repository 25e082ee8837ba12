import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openChain } from "../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../testing/open-watch-rig.ts";
import { owner } from "../testing/samples.ts";
import { openScriptedRpc } from "../testing/scripted-rpc.ts";

const chain = useRig(() => openChain({ slotsInEpoch: 4 }));

let rig: WatchRig | undefined;
afterEach(() => rig?.close());

const strangersCount = 10_000;
const togetherCount = 100;
/** One in so many strangers pays in a token of the catalogue. */
const tokenOneIn = 5;

describe("one block with ten thousand foreign payments", () => {
  test("passes a node that gives fewer logs at once: ours settles, and those whose link comes later", async () => {
    const rpc = await openScriptedRpc({ target: chain.url });
    const message = "query returned more than 10000 results. Try with this block range [0x1, 0x2].";
    const limit = { of: "logs", max: strangersCount, code: -32005, message } as const;
    rpc.play({ kind: "limited", limits: [limit] });
    rig = await openWatchRig(chain, { finality: "finalized" }, [rpc.url]);
    await rig.service.start();
    const { hear, sampleLink, told } = rig;
    const [link, late] = [sampleLink(), sampleLink()];
    await hear(link);
    await rig.caughtUp();

    await chain.ask("evm_setBlockGasLimit", ["0x77359400"]);
    const references = Array.from({ length: strangersCount }, () =>
      randomBytes(16).toString("hex"),
    );
    references[0] = late.paymentReference;
    for (let at = 0; at < strangersCount; at += togetherCount) {
      await chain.payTogether(
        references.slice(at, at + togetherCount).map((reference, index) => ({
          reference,
          to: owner,
          amount: 1n,
          token: index % tokenOneIn === 0 ? ("usdc" as const) : ("unlisted" as const),
        })),
      );
    }
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7n, payer: 1 });
    await chain.mine();
    const block = await chain.client.getBlock();
    expect(block.transactions).toHaveLength(strangersCount / togetherCount + 1);
    await chain.mine(10);

    const settles = (linkId: string) =>
      waitUntil("it is settled", () => told(linkId).at(-1)?.status === "settled");
    await settles(link.id);
    await hear(late);
    await settles(late.id);
    const { readStatus } = rig;
    await waitUntil("it goes on", async () => (await readStatus()).state === "watching");
    await rpc.close();
  });
});
