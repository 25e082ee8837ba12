import { type PaymentLinkState, keccak256Hex } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { assignTransfers, lockReferences } from "../store/chain-transfers.ts";
import { recordStoredTransfers, transfersPerCommitMax } from "./record-transfers.ts";

/**
 * Claims for links, which are heard of for the first time, the transfers that were seen before them
 * on whichever chain, and records them.
 */
export const claimTransfers = async (
  tx: Transaction,
  links: readonly Pick<PaymentLinkState, "id" | "paymentReference">[],
  now: Date,
): Promise<void> => {
  const heard = links.map(({ id, paymentReference }) => ({
    linkId: id,
    referenceHash: keccak256Hex(paymentReference),
  }));
  await lockReferences(
    tx,
    heard.map(({ referenceHash }) => referenceHash),
  );
  for (;;) {
    const claimed = await assignTransfers(tx, heard, transfersPerCommitMax);
    for (const chainId of new Set(claimed.map((transfer) => transfer.chainId))) {
      const ofChain = claimed.filter((transfer) => transfer.chainId === chainId);
      await recordStoredTransfers(tx, ofChain, now);
    }
    if (claimed.length < transfersPerCommitMax) return;
  }
};
