import type { Transaction } from "@payment-links/postgres";
import {
  assignTransfers,
  lockTransfersOfFormer,
  releaseTransfers,
} from "../store/chain-transfers.ts";
import { lockReferences } from "../store/references.ts";
import type { NamedLink } from "../store/links.ts";
import { recordStoredTransfers, transfersPerCommitMax } from "./record-transfers.ts";

type Heard = Pick<NamedLink, "id" | "referenceHash" | "dateCreated">;

/**
 * Claims for links, which are heard of for the first time, the transfers that were seen before them
 * on whichever chain, and records them. Those that a former link of the same address was given meanwhile
 * are theirs as well (rule API-33): its payments of them have failed.
 */
export const claimTransfers = async (
  tx: Transaction,
  links: readonly Heard[],
  now: Date,
): Promise<void> => {
  const heard = newestOfEach(links).map(({ dateCreated, id, referenceHash }) => ({
    linkId: id,
    referenceHash,
    createdAt: dateCreated,
  }));
  await lockReferences(
    tx,
    heard.map(({ referenceHash }) => referenceHash),
  );
  const ofFormer = await lockTransfersOfFormer(tx, heard);
  if (ofFormer.length > 0) {
    await recordStoredTransfers(tx, ofFormer, now, () => "failed");
    await releaseTransfers(tx, ofFormer);
  }
  for (;;) {
    const claimed = await assignTransfers(tx, heard, transfersPerCommitMax);
    for (const chainId of new Set(claimed.map((transfer) => transfer.chainId))) {
      const ofChain = claimed.filter((transfer) => transfer.chainId === chainId);
      await recordStoredTransfers(tx, ofChain, now);
    }
    if (claimed.length < transfersPerCommitMax) return;
  }
};

/** Of links that had the same address, one after the other, the newest. */
const newestOfEach = (links: readonly Heard[]): readonly Heard[] => {
  const oldestFirst = links.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return [...new Map(oldestFirst.map((link) => [link.referenceHash, link])).values()];
};
