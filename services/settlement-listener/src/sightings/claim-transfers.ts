import type { Transaction } from "@payment-links/postgres";
import type { StoredTransfer } from "../domain/chain-transfer.ts";
import { assignTransfers } from "../store/chain-transfers.ts";
import { lockReferences } from "../store/references.ts";
import type { NamedLink } from "../store/links.ts";
import { recordStoredTransfers, transfersPerCommitMax } from "./record-transfers.ts";
import { recordWaits } from "./record-waiting.ts";

/**
 * Claims for links, which are heard of for the first time, the transfers that were seen before them
 * on whichever chain, and records them. One that still waits to be mined shows as processing.
 */
export const claimTransfers = async (
  tx: Transaction,
  links: readonly Pick<NamedLink, "id" | "referenceHash">[],
  now: Date,
): Promise<void> => {
  const heard = links.map(({ id, referenceHash }) => ({ linkId: id, referenceHash }));
  await lockReferences(
    tx,
    heard.map(({ referenceHash }) => referenceHash),
  );
  for (;;) {
    const claimed = await assignTransfers(tx, heard, transfersPerCommitMax);
    for (const chainId of new Set(claimed.map((transfer) => transfer.chainId))) {
      const ofChain = claimed.filter((transfer) => transfer.chainId === chainId);
      await recordStoredTransfers(tx, ofChain, now);
      await recordWaits(tx, ofChain.filter(isUnmined), () => true, now);
    }
    if (claimed.length < transfersPerCommitMax) return;
  }
};

const isUnmined = ({ blockHash }: StoredTransfer): boolean => blockHash === "";
