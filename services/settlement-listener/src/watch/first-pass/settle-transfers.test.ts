import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { recordTransfers } from "../../sightings/record-transfers.ts";
import { type Chain, openChain } from "../../testing/open-chain.ts";
import { type WatchRig, openWatchRig } from "../../testing/open-watch-rig.ts";
import { sampleTransfer } from "../../testing/sample-transfer.ts";
import { owner } from "../../testing/samples.ts";

let chain: Chain;
let rig: WatchRig;
beforeAll(async () => {
  chain = await openChain();
  rig = await openWatchRig(chain, { finality: { blocks: 3 } });
});
afterAll(async () => {
  await rig.close();
  await chain.close();
});

/** Payments in an old block, of transactions that no node knows. */
const recordMissing = (count: number) => {
  const { chainId } = chain;
  const missing = Array.from({ length: count }, () => sampleTransfer({ chainId, blockNumber: 1 }));
  return transact(rig.pool, (tx) => recordTransfers(tx, missing, new Date()));
};

describe("settling payments", () => {
  test("more than a page of them whose receipts are missing hold up none behind them", async () => {
    const link = await rig.hearNew();
    await rig.service.start();
    await rig.caughtUp();
    await recordMissing(300);
    await recordMissing(300);
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 5n });
    await chain.mine();
    const statuses = () => rig.told(link.id).map(({ status }) => status);
    await waitUntil("it is seen", () => statuses().length === 1);
    expect(statuses()).toEqual(["processing"]);
    await chain.mine(3);
    await waitUntil("it is settled", () => statuses().includes("settled"));
  });
});
