import {
  type StoredTransfer,
  type ChainTransfer,
  sightingOfTransfer,
} from "../domain/chain-transfer.ts";
import {
  claimTransfers,
  holdReferences,
  lockReference,
  upsertTransfers,
} from "../store/chain-transfers.ts";
import type { Transaction } from "../store/transaction.ts";
import { recordSightings } from "./record-sightings.ts";

/** The most transfers that one transaction keeps. */
export const transfersAtOnceMax = 500;

/**
 * Keeps what was found on a chain and tells of the payments whose links are known. Called in the
 * transaction that moves the chain's checkpoint, with its lead locked. At most
 * {@link transfersAtOnceMax} transfers, each once.
 */
export const keepTransfers = async (
  tx: Transaction,
  transfers: readonly ChainTransfer[],
  now: Date,
): Promise<void> => {
  if (transfers.length === 0) return;
  await holdReferences(
    tx,
    transfers.map(({ referenceHash }) => referenceHash),
  );
  await tellTransfers(tx, await upsertTransfers(tx, transfers, now), now);
};

/** Tells of the payments of transfers as they stand now, with their chain's lead locked. */
export const tellTransfers = async (
  tx: Transaction,
  kept: readonly StoredTransfer[],
  now: Date,
): Promise<void> => {
  const sightings = kept.flatMap((transfer) => sightingOfTransfer(transfer) ?? []);
  await recordSightings(tx, sightings, now);
};

/**
 * Gives a link that is heard of for the first time the transfers that were seen before it, on
 * whichever chain, and tells of them.
 */
export const releaseTransfers = async (
  tx: Transaction,
  { linkId, referenceHash }: { linkId: string; referenceHash: string },
  now: Date,
): Promise<void> => {
  await lockReference(tx, referenceHash);
  for (;;) {
    const countMax = transfersAtOnceMax;
    const claimed = await claimTransfers(tx, { linkId, referenceHash, countMax });
    for (const chainId of new Set(claimed.map((transfer) => transfer.chainId))) {
      const ofChain = claimed.filter((transfer) => transfer.chainId === chainId);
      await tellTransfers(tx, ofChain, now);
    }
    if (claimed.length < countMax) return;
  }
};
