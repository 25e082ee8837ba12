import { beforeAll, describe, expect, test } from "@jest/globals";
import { type PaymentLinkState, referenceHashOf } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { freshBitcoinAddress } from "../testing/bitcoin/fresh-address.ts";
import { hearLink } from "../testing/hear-link.ts";
import { saveScannedHeight } from "../store/scanned-heights.ts";
import { openRig } from "../testing/open-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { sampleLink } from "../testing/samples.ts";
import { takeLead } from "../store/watchers.ts";
import { withoutOlder } from "./list-older.ts";
import { recordTransfers } from "./record-transfers.ts";

const rig = useRig(openRig);
const chainId = "bitcoin";
beforeAll(async () => {
  const now = rig.clock.now();
  await takeLead(rig.pool, { chainId, now, until: now });
});

const scanTo = (height: number) =>
  transact(rig.pool, (tx) => saveScannedHeight(tx, chainId, { height, now: rig.clock.now() }));

/** A link that is made now. */
const makeLink = (): PaymentLinkState =>
  sampleLink({
    chainId,
    tokenAddress: "BTC",
    destinationAddress: freshBitcoinAddress(),
    dateCreated: rig.clock.now(),
  });

const hear = (link: PaymentLinkState) =>
  transact(rig.pool, (tx) => hearLink(rig.clock)(tx, { link }));

const payIn = (blockNumber: number, link: PaymentLinkState) => {
  const { destinationAddress, tokenAddress } = link;
  const referenceHash = referenceHashOf("BVM", link);
  return sampleTransfer({ chainId, blockNumber, destinationAddress, referenceHash, tokenAddress });
};

const record = (...transfers: Parameters<typeof recordTransfers>[1]) =>
  transact(rig.pool, (tx) => recordTransfers(tx, transfers, rig.clock.now()));

const countTold = async ({ id }: PaymentLinkState) => (await readEvents(rig.pool, id)).length;

describe("a payment on Bitcoin that a second look finds", () => {
  test("pays its link only from the height that was scanned when the link was made (rule CHAIN-28)", async () => {
    await scanTo(100);
    rig.clock.advance(1_000);
    const link = makeLink();
    rig.clock.advance(1_000);
    await scanTo(101);
    await hear(link);
    const [older, newer, newest] = [payIn(100, link), payIn(101, link), payIn(102, link)];
    expect(await withoutOlder(rig.pool, [older, newer, newest])).toEqual([newer, newest]);
    await record(older);
    expect(await countTold(link)).toBe(0);
    await record(older, newer, newest);
    expect(await countTold(link)).toBe(2);
  });

  test("is judged by the chain as it stands: a reorg forgets the heights above its fork", async () => {
    await scanTo(200);
    rig.clock.advance(1_000);
    const link = makeLink();
    rig.clock.advance(1_000);
    // The block at 200 is another one now, and holds a payment that was made since.
    await scanTo(199);
    await scanTo(200);
    await hear(link);
    expect(await withoutOlder(rig.pool, [payIn(200, link)])).toHaveLength(1);
  });
});
