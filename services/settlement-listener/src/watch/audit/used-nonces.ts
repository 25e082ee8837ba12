import { type PendingNonces, classifyPendingNonces } from "../../domain/pending-nonces.ts";
import { readProgress } from "../../store/watchers.ts";
import { agreeOnBlock } from "../agreement/agree-on-block.ts";
import { reachQuorum, getQuorum } from "../agreement/reach-quorum.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "@payment-links/chains/chain-reader";

/** What is known about a sender if no quorum returns the sender's nonce at a final block. */
type NonceObservation = {
  /** The number of nonces used at a block that is final now. 0 until one is known. */
  finalCount: number;
  /** A count at a newer block, until that block becomes final. */
  pending: PendingNonces | undefined;
  /** The last final block of the last round that needed this observation. */
  roundFinalizedTo: number;
};

/** Observations by sender. They can be lost without harm, because they are repeated. */
export type NonceObservations = Map<string, NonceObservation>;

type NonceQuery = { finalizedTo: number; observations: NonceObservations };

const sendersAtOnceMax = 4;

/**
 * Returns how many nonces the senders had used at the last final block, as agreed by the providers.
 * Many nodes store only the newest states, and on Base or Arbitrum a final block is older than
 * that. Such nodes are asked at the newest scanned block, and the count is used once that block is
 * final. Until then an older, lower count is returned.
 */
export const readUsedNonces = async (
  watch: WatchContext,
  senders: readonly string[],
  { finalizedTo, observations }: NonceQuery,
): Promise<ReadonlyMap<string, number>> => {
  const usedCounts = new Map(await agreeOnUsedNonces(watch, senders, finalizedTo));
  const unresolvedSenders = senders.filter((sender) => !usedCounts.has(sender));
  if (unresolvedSenders.length === 0) return usedCounts;
  await confirmPending(watch, unresolvedSenders, { finalizedTo, observations });
  await observeNewest(watch, unresolvedSenders, { finalizedTo, observations });
  for (const sender of unresolvedSenders) {
    const observation = observations.get(sender);
    if (observation === undefined) continue;
    observation.roundFinalizedTo = finalizedTo;
    usedCounts.set(sender, observation.finalCount);
  }
  return usedCounts;
};

/** Removes senders that the given round did not need. */
export const pruneObservations = (
  observations: NonceObservations,
  roundFinalizedTo: number,
): void => {
  for (const [sender, observation] of observations) {
    if (observation.roundFinalizedTo < roundFinalizedTo) observations.delete(sender);
  }
};

/**
 * Applies pending counts whose block has become final, and drops those whose block was replaced.
 */
const confirmPending = async (
  watch: WatchContext,
  senders: readonly string[],
  { finalizedTo, observations }: NonceQuery,
): Promise<void> => {
  const finalizedObservations = senders.flatMap((sender) => {
    const observation = observations.get(sender);
    const pending = observation?.pending;
    if (observation === undefined || pending === undefined) return [];
    return pending.blockNumber <= finalizedTo ? [{ observation, pending }] : [];
  });
  const observationsByBlock = Map.groupBy(
    finalizedObservations,
    ({ pending }) => pending.blockNumber,
  );
  for (const [blockNumber, blockObservations] of observationsByBlock) {
    const { hash } = await agreeOnBlock(watch, blockNumber);
    for (const { observation, pending } of blockObservations) {
      const state = classifyPendingNonces(pending, { agreedHash: hash, finalizedTo });
      if (state === "pending") continue;
      const { finalCount } = observation;
      if (state === "final") observation.finalCount = Math.max(finalCount, pending.count);
      observation.pending = undefined;
    }
  }
};

/** Requests the counts at the newest scanned block, except for senders with a pending count. */
const observeNewest = async (
  watch: WatchContext,
  senders: readonly string[],
  { finalizedTo, observations }: NonceQuery,
): Promise<void> => {
  const sendersToObserve = senders.filter(
    (sender) => observations.get(sender)?.pending === undefined,
  );
  const { scannedHash, scannedTo } = await readProgress(watch.pool, watch.chain.id);
  if (sendersToObserve.length === 0 || scannedTo === null || scannedHash === null) return;
  const counts = await agreeOnUsedNonces(watch, sendersToObserve, scannedTo);
  if (counts.size === 0) return;
  // The hash shows whether the counts refer to the scanned block or to another one with its number.
  const { hash } = await agreeOnBlock(watch, scannedTo);
  if (hash !== scannedHash) return;
  for (const [sender, count] of counts) {
    const pending = { count, blockNumber: scannedTo, blockHash: hash };
    const { finalCount = 0 } = observations.get(sender) ?? {};
    observations.set(sender, { finalCount, pending, roundFinalizedTo: finalizedTo });
  }
};

/**
 * Returns how many nonces each sender had used at a block, as agreed by the providers. One request
 * can make a provider read megabytes of blocks, so only a few run in parallel. If a request fails,
 * only its sender is left out.
 */
const agreeOnUsedNonces = async (
  { verifiers }: WatchContext,
  senders: readonly string[],
  blockNumber: number,
): Promise<ReadonlyMap<string, number>> => {
  const { agreedValues: agreedCounts } = await reachQuorum({
    verifiers,
    quorum: getQuorum(verifiers),
    keys: senders,
    fetchValues: async ({ reader }, batch) => {
      const usedCounts = new Map<string, number>();
      const readSender = async (sender: string): Promise<void> => {
        try {
          usedCounts.set(sender, await reader.readUsedNonces(sender, blockNumber));
        } catch (error) {
          if (!(error instanceof ChainUnreachableError)) throw error;
        }
      };
      for (let offset = 0; offset < batch.length; offset += sendersAtOnceMax) {
        await Promise.all(batch.slice(offset, offset + sendersAtOnceMax).map(readSender));
      }
      return usedCounts;
    },
    toFingerprint: String,
  });
  return agreedCounts;
};
