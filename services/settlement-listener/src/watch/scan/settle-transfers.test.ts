import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { recordTransfers } from "../../payment-reports/record-transfers.ts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig, startWatchRig } from "../../testing/create-watch-rig.ts";
import { startScriptedRpc } from "@payment-links/chains/testing/scripted-rpc";
import { sampleTransfer } from "../../testing/sample-transfer.ts";
import { owner } from "../../testing/samples.ts";

let chain: LocalEvmChain;
let rig: WatchRig;
beforeAll(async () => {
  chain = await startEvmChain();
  rig = await createWatchRig(chain, { finality: { blocks: 3 } });
});
afterAll(async () => {
  await rig.close();
  await chain.close();
});

/** Records payments in an old block. No node knows their transactions. */
const recordTransfersWithoutReceipts = (count: number) => {
  const { chainId } = chain;
  const missingTransfers = Array.from({ length: count }, () =>
    sampleTransfer({ chainId, blockNumber: 1 }),
  );
  return transact(rig.pool, (tx) => recordTransfers(tx, missingTransfers, new Date()));
};

const isReceiptOf = (value: unknown, hash: string): boolean =>
  typeof value === "object" && value !== null && "logsBloom" in value && "transactionHash" in value
    ? value.transactionHash === hash
    : false;

describe("settleTransfers with one provider", () => {
  test("neither stops the scan nor other payments if the response for one receipt is invalid (rule CHAIN-32)", async () => {
    const rpc = await startScriptedRpc({ target: chain.url });
    const scriptedRig = await startWatchRig(chain, { finality: { blocks: 3 } }, [rpc.url]);
    const statuses = ({ id }: { id: string }) =>
      scriptedRig.publishedPayments(id).map(({ status }) => status);
    const waitForStatus = (link: { id: string }, status: string) =>
      waitUntil(`a payment is ${status}`, () => statuses(link).at(-1) === status);
    const [invalidLink, link] = [
      await scriptedRig.receiveNewLink(),
      await scriptedRig.receiveNewLink(),
    ];
    await scriptedRig.waitUntilScanned();
    const { paymentReference: reference } = invalidLink;
    const invalidHash = await chain.pay({ reference, to: owner, amount: 5n });
    await chain.mine();
    await waitForStatus(invalidLink, "processing");
    const fault = rpc.injectFault({
      kind: "hostile",
      corrupt: (reply) =>
        JSON.stringify(reply, (_key, value: unknown) =>
          isReceiptOf(value, invalidHash) ? { transactionHash: 1 } : value,
        ),
    });
    await chain.mine(3);
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
    await chain.mine();
    await waitForStatus(link, "processing");
    await chain.mine(3);
    await waitForStatus(link, "settled");
    expect(statuses(invalidLink)).toEqual(["processing"]);
    expect(fault.getHitCount()).toBeGreaterThan(0);
    fault.stop();
    await waitForStatus(invalidLink, "settled");
    await scriptedRig.close();
    await rpc.close();
  });
});

describe("settleTransfers", () => {
  test("settles a payment behind more than a page of others whose receipts are missing", async () => {
    const link = await rig.receiveNewLink();
    await rig.service.start();
    await rig.waitUntilScanned();
    await recordTransfersWithoutReceipts(300);
    await recordTransfersWithoutReceipts(300);
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
    await chain.mine();
    const publishedStatuses = () => rig.publishedPayments(link.id).map(({ status }) => status);
    await waitUntil("the payment is published", () => publishedStatuses().length === 1);
    expect(publishedStatuses()).toEqual(["processing"]);
    await chain.mine(3);
    await waitUntil("the payment is settled", () => publishedStatuses().includes("settled"));
  });
});
