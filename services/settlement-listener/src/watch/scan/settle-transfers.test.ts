import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { recordTransfers } from "../../payment-reports/record-transfers.ts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, createWatchRig } from "../../testing/create-watch-rig.ts";
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
