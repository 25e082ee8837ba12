import type { Transaction } from "@payment-links/postgres";
import type { StoredTransfer } from "../domain/transfer.ts";
import { assignTransfers } from "../store/chain-transfers.ts";
import { lockReferences } from "../store/references.ts";
import type { WatchedLink } from "../store/links.ts";
import { recordStoredTransfers, transfersPerCommitMax } from "./record-transfers.ts";
import { recordMempoolStatus } from "./record-unconfirmed.ts";

/**
 * Assigns the transfers that were found on any chain before their link was received, and records
 * their payments. Payments that are still in the mempool become processing.
 */
export const claimTransfers = async (
  tx: Transaction,
  links: readonly Pick<WatchedLink, "id" | "referenceHash">[],
  now: Date,
): Promise<void> => {
  const linkReferences = links.map(({ id, referenceHash }) => ({ linkId: id, referenceHash }));
  await lockReferences(
    tx,
    linkReferences.map(({ referenceHash }) => referenceHash),
  );
  for (;;) {
    const claimedTransfers = await assignTransfers(tx, linkReferences, transfersPerCommitMax);
    for (const chainId of new Set(claimedTransfers.map((transfer) => transfer.chainId))) {
      const chainTransfers = claimedTransfers.filter((transfer) => transfer.chainId === chainId);
      await recordStoredTransfers(tx, chainTransfers, now);
      await recordMempoolStatus(tx, chainTransfers.filter(isUnmined), () => true, now);
    }
    if (claimedTransfers.length < transfersPerCommitMax) return;
  }
};

const isUnmined = ({ blockHash }: StoredTransfer): boolean => blockHash === "";
