import { type PendingNonces, judgePending } from "../../domain/pending-nonces.ts";
import { readProgress } from "../../store/watchers.ts";
import { agreeOnBlock } from "../agreement/agree-on-block.ts";
import { agree, quorumOf } from "../agreement/agree.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "../chain-reader.ts";

/** What is known of a sender whose nonces nobody tells at a final block. */
type NonceObservation = {
  /** How many nonces were used by a final block; 0 until one is known. */
  finalCount: number;
  /** How many were used by a block that was new when it was asked for, until that block is final. */
  pending: PendingNonces | undefined;
  /** The last final block of the round in which it was last needed. */
  roundTo: number;
};

/** The observations of each sender. They may be lost without harm: then they are made again. */
export type NonceObservations = Map<string, NonceObservation>;

type Final = { finalizedTo: number; observations: NonceObservations };

const sendersAtOnceMax = 4;

/**
 * Returns how many nonces senders had used by the last final block, or fewer, where providers agree. Many
 * nodes keep the state of the newest blocks alone, and on Base or Arbitrum a final block is older. Such a node
 * is asked at the newest scanned block, and its answer counts once that block is final.
 */
export const readUsedNonces = async (
  watch: WatchContext,
  senders: readonly string[],
  { finalizedTo, observations }: Final,
): Promise<ReadonlyMap<string, number>> => {
  const used = new Map(await agreeOnUsedNonces(watch, senders, finalizedTo));
  const open = senders.filter((sender) => !used.has(sender));
  if (open.length === 0) return used;
  await confirmPending(watch, open, { finalizedTo, observations });
  await observeNewest(watch, open, { finalizedTo, observations });
  for (const sender of open) {
    const observation = observations.get(sender);
    if (observation === undefined) continue;
    observation.roundTo = finalizedTo;
    used.set(sender, observation.finalCount);
  }
  return used;
};

/** Forgets senders that were not needed in the round up to a final block. */
export const forgetObservations = (observations: NonceObservations, roundTo: number): void => {
  for (const [sender, observation] of observations) {
    if (observation.roundTo < roundTo) observations.delete(sender);
  }
};

/** Lets observations count whose block is final by now, and drops those whose block was replaced. */
const confirmPending = async (
  watch: WatchContext,
  senders: readonly string[],
  { finalizedTo, observations }: Final,
): Promise<void> => {
  const due = senders.flatMap((sender) => {
    const observation = observations.get(sender);
    const pending = observation?.pending;
    if (observation === undefined || pending === undefined) return [];
    return pending.blockNumber <= finalizedTo ? [{ observation, pending }] : [];
  });
  const byBlock = Map.groupBy(due, ({ pending }) => pending.blockNumber);
  for (const [blockNumber, ofBlock] of byBlock) {
    const { hash } = await agreeOnBlock(watch, blockNumber);
    for (const { observation, pending } of ofBlock) {
      const judgement = judgePending(pending, { agreedHash: hash, finalizedTo });
      if (judgement === "pending") continue;
      const { finalCount } = observation;
      if (judgement === "final") observation.finalCount = Math.max(finalCount, pending.count);
      observation.pending = undefined;
    }
  }
};

/** Asks for the nonces by the newest scanned block, where nothing waits to become final. */
const observeNewest = async (
  watch: WatchContext,
  senders: readonly string[],
  { finalizedTo, observations }: Final,
): Promise<void> => {
  const asked = senders.filter((sender) => observations.get(sender)?.pending === undefined);
  const { scannedHash, scannedTo } = await readProgress(watch.pool, watch.chain.id);
  if (asked.length === 0 || scannedTo === null || scannedHash === null) return;
  const counts = await agreeOnUsedNonces(watch, asked, scannedTo);
  if (counts.size === 0) return;
  // They may have answered of another block with that number.
  const { hash } = await agreeOnBlock(watch, scannedTo);
  if (hash !== scannedHash) return;
  for (const [sender, count] of counts) {
    const pending = { count, blockNumber: scannedTo, blockHash: hash };
    const { finalCount = 0 } = observations.get(sender) ?? {};
    observations.set(sender, { finalCount, pending, roundTo: finalizedTo });
  }
};

/**
 * How many nonces each sender had used at a block, where providers agree on it. One question may have a
 * provider read blocks of megabytes, so few are put at once; one that fails leaves out its sender alone.
 */
const agreeOnUsedNonces = async (
  { witnesses }: WatchContext,
  senders: readonly string[],
  blockNumber: number,
): Promise<ReadonlyMap<string, number>> => {
  const { agreed } = await agree({
    witnesses,
    quorum: quorumOf(witnesses),
    keys: senders,
    ask: async ({ reader }, some) => {
      const used = new Map<string, number>();
      const readOne = async (sender: string): Promise<void> => {
        try {
          used.set(sender, await reader.readUsedNonces(sender, blockNumber));
        } catch (error) {
          if (!(error instanceof ChainUnreachableError)) throw error;
        }
      };
      for (let at = 0; at < some.length; at += sendersAtOnceMax) {
        await Promise.all(some.slice(at, at + sendersAtOnceMax).map(readOne));
      }
      return used;
    },
    printOf: String,
  });
  return agreed;
};
