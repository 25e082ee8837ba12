import type { Db } from "@payment-links/postgres";
import { type Transfer, toTransferKey } from "../domain/transfer.ts";
import { type ReferencedLink, listLinksByReference } from "../store/references.ts";
import { readScannedAt } from "../store/scanned-heights.ts";

type MinedTransfer = Pick<
  Transfer,
  "chainId" | "transactionHash" | "referenceHash" | "ordinal" | "blockNumber"
>;

/**
 * Returns the keys of the mined transfers that are older than their link: their block was scanned
 * before the link had its address (rule CHAIN-28).
 */
export const listOlderThanLink = async (
  db: Db,
  transfers: readonly MinedTransfer[],
  links: ReadonlyMap<string, ReferencedLink>,
): Promise<ReadonlySet<string>> => {
  const transfersWithPaidFrom = transfers.flatMap((transfer) => {
    const paidFrom = links.get(transfer.referenceHash)?.paidFrom ?? undefined;
    return paidFrom === undefined ? [] : [{ transfer, paidFrom }];
  });
  const [firstEntry] = transfersWithPaidFrom;
  if (firstEntry === undefined) return new Set();
  const blockNumbers = transfersWithPaidFrom.map(({ transfer }) => transfer.blockNumber);
  const scannedAt = await readScannedAt(db, firstEntry.transfer.chainId, blockNumbers);
  return new Set(
    transfersWithPaidFrom.flatMap(({ paidFrom, transfer }) => {
      const blockScannedAt = scannedAt.get(transfer.blockNumber);
      return blockScannedAt !== undefined && blockScannedAt < paidFrom
        ? toTransferKey(transfer)
        : [];
    }),
  );
};

/** Removes the transfers that are older than their link. */
export const excludeOlderThanLink = async (
  db: Db,
  transfers: readonly Transfer[],
): Promise<readonly Transfer[]> => {
  const referenceHashes = transfers.map(({ referenceHash }) => referenceHash);
  const olderKeys = await listOlderThanLink(
    db,
    transfers,
    await listLinksByReference(db, referenceHashes),
  );
  return transfers.filter((transfer) => !olderKeys.has(toTransferKey(transfer)));
};
