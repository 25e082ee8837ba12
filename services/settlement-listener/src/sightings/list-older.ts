import type { Db } from "@payment-links/postgres";
import { type ChainTransfer, transferKey } from "../domain/chain-transfer.ts";
import { type PaidLink, listPaidLinks } from "../store/references.ts";
import { readScannedAt } from "../store/scanned-heights.ts";

type Found = Pick<
  ChainTransfer,
  "chainId" | "transactionHash" | "referenceHash" | "ordinal" | "blockNumber"
>;

/**
 * Returns the keys of the transfers in blocks that are older than their link (rule CHAIN-28): their
 * block had been scanned before the link had its address.
 */
export const listOlder = async (
  db: Db,
  transfers: readonly Found[],
  links: ReadonlyMap<string, PaidLink>,
): Promise<ReadonlySet<string>> => {
  const dated = transfers.flatMap((transfer) => {
    const paidFrom = links.get(transfer.referenceHash)?.paidFrom ?? undefined;
    return paidFrom === undefined ? [] : [{ transfer, paidFrom }];
  });
  const [first] = dated;
  if (first === undefined) return new Set();
  const numbers = dated.map(({ transfer }) => transfer.blockNumber);
  const scannedAt = await readScannedAt(db, first.transfer.chainId, numbers);
  return new Set(
    dated.flatMap(({ paidFrom, transfer }) => {
      const knownSince = scannedAt.get(transfer.blockNumber);
      return knownSince !== undefined && knownSince < paidFrom ? transferKey(transfer) : [];
    }),
  );
};

/** Returns the transfers without those that are older than their link. */
export const withoutOlder = async (
  db: Db,
  transfers: readonly ChainTransfer[],
): Promise<readonly ChainTransfer[]> => {
  const hashes = transfers.map(({ referenceHash }) => referenceHash);
  const older = await listOlder(db, transfers, await listPaidLinks(db, hashes));
  return transfers.filter((one) => !older.has(transferKey(one)));
};
