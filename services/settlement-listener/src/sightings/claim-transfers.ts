import type { Transaction } from "@payment-links/postgres";
import { assignTransfers, lockReference } from "../store/chain-transfers.ts";
import { recordStoredTransfers, transfersPerCommitMax } from "./record-transfers.ts";

/**
 * Claims for a link, which is heard of for the first time, the transfers that were seen before it
 * on whichever chain, and records them.
 */
export const claimTransfers = async (
  tx: Transaction,
  { linkId, referenceHash }: { linkId: string; referenceHash: string },
  now: Date,
): Promise<void> => {
  await lockReference(tx, referenceHash);
  for (;;) {
    const countMax = transfersPerCommitMax;
    const claimed = await assignTransfers(tx, { linkId, referenceHash, countMax });
    for (const chainId of new Set(claimed.map((transfer) => transfer.chainId))) {
      const ofChain = claimed.filter((transfer) => transfer.chainId === chainId);
      await recordStoredTransfers(tx, ofChain, now);
    }
    if (claimed.length < countMax) return;
  }
};
