import { readSolanaAddress } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import {
  type ChainTransfer,
  type StoredTransfer,
  sightingOfTransfer,
  transferKey,
} from "../domain/chain-transfer.ts";
import { depositId } from "../domain/deposit.ts";
import { type Payment, type Sighting, isNews } from "../domain/payment.ts";
import { type FoundTransfer, storeTransfers } from "../store/chain-transfers.ts";
import { saveProven } from "../store/owner-addresses.ts";
import { holdReferences } from "../store/references.ts";
import { listOlder } from "./list-older.ts";
import { recordNewSightings, recordSightings } from "./record-sightings.ts";

/** The most transfers that one transaction records, and one statement stores. */
export const transfersPerCommitMax = 500;

/**
 * Records what was found on a chain: stores the transfers, and records a sighting of each whose
 * link is known. Money on Bitcoin that is older than the link at its address is stored without a link. Called in the transaction that moves the chain's checkpoint, with its lead locked.
 * At most {@link transfersPerCommitMax} transfers, each once; or more, where one block holds them.
 */
export const recordTransfers = async (
  tx: Transaction,
  transfers: readonly ChainTransfer[],
  now: Date,
): Promise<void> => {
  if (transfers.length === 0) return;
  const links = await holdReferences(
    tx,
    transfers.flatMap(({ payer, referenceHash }) => (payer === undefined ? referenceHash : [])),
  );
  const older = await listOlder(tx, transfers, links);
  const linkIdOf = (found: ChainTransfer): string | null =>
    older.has(transferKey(found)) ? null : (links.get(found.referenceHash)?.linkId ?? null);
  const foundOf = (found: ChainTransfer): FoundTransfer => ({
    ...found,
    nonce: found.nonce ?? null,
    isOrphaned: false,
    paymentLinkId: found.payer === undefined ? linkIdOf(found) : depositId(found),
  });
  const states = new Map(transfers.map((found) => [transferKey(found), found.state]));
  await saveProvenOwners(tx, transfers, now);
  const witnessed = new Set(transfers.filter(isWitnessed).map(transferKey));
  for (let at = 0; at < transfers.length; at += transfersPerCommitMax) {
    const page = transfers.slice(at, at + transfersPerCommitMax);
    const { areNew, stored } = await storeTransfers(tx, page.map(foundOf), now);
    const sightings = stored.flatMap((one): Sighting[] => {
      const key = transferKey(one);
      const status = states.get(key) === "settled" ? "settled" : "processing";
      const sighting = sightingOfTransfer(one, status);
      if (sighting === undefined) return [];
      return [witnessed.has(key) ? { ...sighting, witnessedAt: now } : sighting];
    });
    await (areNew ? recordNewSightings : recordSightings)(tx, sightings, now);
  }
};

/**
 * Saves at whose addresses payments have settled. A deposit proves nothing. Only Solana asks for some owners more
 * often than for others, so no other chain pays for the statement.
 */
const saveProvenOwners = async (
  tx: Transaction,
  transfers: readonly ChainTransfer[],
  now: Date,
): Promise<void> => {
  const settled = transfers.filter(
    ({ destinationAddress, payer, state }) =>
      state === "settled" && payer === undefined && isSolanaAddress(destinationAddress),
  );
  const [first] = settled;
  if (first === undefined) return;
  const addresses = settled.map(({ destinationAddress }) => destinationAddress);
  await saveProven(tx, first.chainId, addresses, now);
};

/** A quorum names the nonce of a transaction that it knows, and agrees on the receipt of a settled one. */
const isWitnessed = ({ nonce, state }: ChainTransfer): boolean =>
  nonce !== undefined || state === "settled";

/**
 * Records sightings of transfers as they stand now, with their chain's lead locked, or their
 * references. Answers the payments that others are told of.
 */
export const recordStoredTransfers = async (
  tx: Transaction,
  transfers: readonly StoredTransfer[],
  now: Date,
  statusOf: (stored: StoredTransfer) => Sighting["status"] = () => "processing",
): Promise<readonly Payment[]> => {
  const judgements = await recordSightings(tx, listSightings(transfers, statusOf), now);
  return judgements.filter(isNews).map(({ payment }) => payment);
};

const listSightings = (
  transfers: readonly StoredTransfer[],
  statusOf: (stored: StoredTransfer) => Sighting["status"],
): readonly Sighting[] => transfers.flatMap((one) => sightingOfTransfer(one, statusOf(one)) ?? []);

const isSolanaAddress = (address: string): boolean => !("fault" in readSolanaAddress(address));
