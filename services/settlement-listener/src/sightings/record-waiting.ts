import type { Transaction } from "@payment-links/postgres";
import { type StoredTransfer, sightingOfTransfer } from "../domain/chain-transfer.ts";
import { type Payment, isNews } from "../domain/payment.ts";
import { recordSightings } from "./record-sightings.ts";
import { insertWaiting } from "../store/chain-transfers.ts";
import { holdReferences } from "../store/references.ts";

/**
 * Records transfers that wait to be mined, in a transaction that holds their chain's lead: a payment is
 * processing, and stands in no block. Those that are known stay as they are. Money at a reserved address,
 * which no link has yet, is stored without a link (rule CHAIN-28).
 */
export const recordWaiting = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
): Promise<readonly Payment[]> => {
  if (transfers.length === 0) return [];
  const links = await holdReferences(
    tx,
    transfers.map(({ referenceHash }) => referenceHash),
  );
  const found = transfers.map((one) => ({
    ...one,
    paymentLinkId: links.get(one.referenceHash)?.linkId ?? null,
  }));
  const added = await insertWaiting(tx, found, now);
  return recordWaits(tx, added, () => true, now);
};

/**
 * Records of transfers that stand in no block whether they wait to be mined, or are known nowhere any
 * more: those are taken back, until they come again.
 */
export const recordWaits = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  isWaiting: (transactionHash: string) => boolean,
  now: Date,
): Promise<readonly Payment[]> => {
  const sightings = transfers.flatMap((one) => {
    const sighting = sightingOfTransfer(one, "processing");
    if (sighting === undefined) return [];
    return [{ ...sighting, isOrphaned: !isWaiting(one.transactionHash) }];
  });
  const judgements = await recordSightings(tx, sightings, now);
  return judgements.filter(isNews).map(({ payment }) => payment);
};
