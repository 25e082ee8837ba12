import { beforeAll, describe, expect, test } from "@jest/globals";
import { getFamily } from "@payment-links/chains";
import type { PaymentLinkState } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "@payment-links/local-chains/bitcoin/fresh-address";
import { receiveLink } from "../testing/receive-link.ts";
import { saveScannedHeight } from "../store/scanned-heights.ts";
import { createRig } from "../testing/create-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { sampleLink } from "../testing/samples.ts";
import { acquireLeadership } from "../store/watchers.ts";
import { excludeOlderThanLink } from "./list-older-than-link.ts";
import { recordTransfers } from "./record-transfers.ts";

const rig = useRig(createRig);
const chainId = "bitcoin";
beforeAll(async () => {
  const now = rig.clock.now();
  await acquireLeadership(rig.pool, { chainId, now, until: now });
});

const scanTo = (height: number) =>
  transact(rig.pool, (tx) => saveScannedHeight(tx, chainId, { height, now: rig.clock.now() }));

/** Creates a link now. */
const createLink = (): PaymentLinkState =>
  sampleLink({
    chainId,
    tokenAddress: "BTC",
    destinationAddress: freshBitcoinAddress(),
    dateCreated: rig.clock.now(),
  });

const receive = (link: PaymentLinkState) =>
  transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));

const createPaymentIn = (blockNumber: number, link: PaymentLinkState) => {
  const { destinationAddress, tokenAddress } = link;
  const referenceHash = getFamily("BVM").computeReferenceHash(link);
  return sampleTransfer({ chainId, blockNumber, destinationAddress, referenceHash, tokenAddress });
};

const recordAll = (...transfers: Parameters<typeof recordTransfers>[1]) =>
  transact(rig.pool, (tx) => recordTransfers(tx, transfers, rig.clock.now()));

const countPublished = async ({ id }: PaymentLinkState) => (await readEvents(rig.pool, id)).length;

describe("a Bitcoin payment found by an audit or rescan", () => {
  test("pays its link only from the height that was scanned when the link was created (rule CHAIN-28)", async () => {
    await scanTo(100);
    rig.clock.advance(1_000);
    const link = createLink();
    rig.clock.advance(1_000);
    await scanTo(101);
    await receive(link);
    const [olderTransfer, newerTransfer, newestTransfer] = [
      createPaymentIn(100, link),
      createPaymentIn(101, link),
      createPaymentIn(102, link),
    ];
    expect(
      await excludeOlderThanLink(rig.pool, [olderTransfer, newerTransfer, newestTransfer]),
    ).toEqual([newerTransfer, newestTransfer]);
    await recordAll(olderTransfer);
    expect(await countPublished(link)).toBe(0);
    await recordAll(olderTransfer, newerTransfer, newestTransfer);
    expect(await countPublished(link)).toBe(2);
  });

  test("is judged by the current chain, because a reorg deletes the scanned heights above its fork", async () => {
    await scanTo(200);
    rig.clock.advance(1_000);
    const link = createLink();
    rig.clock.advance(1_000);
    // A reorg replaced block 200, which now contains a payment made after the link was created.
    await scanTo(199);
    await scanTo(200);
    await receive(link);
    expect(await excludeOlderThanLink(rig.pool, [createPaymentIn(200, link)])).toHaveLength(1);
  });
});
