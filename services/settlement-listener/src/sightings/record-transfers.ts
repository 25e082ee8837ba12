import type { Transaction } from "@payment-links/postgres";
import {
  type StoredTransfer,
  type ChainTransfer,
  sightingOfTransfer,
} from "../domain/chain-transfer.ts";
import { holdReferences, upsertTransfers } from "../store/chain-transfers.ts";
import { recordSightings } from "./record-sightings.ts";

/** The most transfers that one transaction records. */
export const transfersPerCommitMax = 500;

/**
 * Records what was found on a chain: stores the transfers, and records a sighting of each whose
 * link is known. Called in the transaction that moves the chain's checkpoint, with its lead locked.
 * At most {@link transfersPerCommitMax} transfers, each once.
 */
export const recordTransfers = async (
  tx: Transaction,
  transfers: readonly ChainTransfer[],
  now: Date,
): Promise<void> => {
  if (transfers.length === 0) return;
  await holdReferences(
    tx,
    transfers.map(({ referenceHash }) => referenceHash),
  );
  await recordStoredTransfers(tx, await upsertTransfers(tx, transfers, now), now);
};

/** Records sightings of transfers as they stand now, with their chain's lead locked. */
export const recordStoredTransfers = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
): Promise<void> => {
  const sightings = transfers.flatMap((transfer) => sightingOfTransfer(transfer) ?? []);
  await recordSightings(tx, sightings, now);
};
