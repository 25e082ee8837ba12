import { getChainSource } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { listMissingNonces, saveNonces } from "../../store/open-transfers.ts";
import { markConfirmedByQuorum } from "../../store/payments.ts";
import { type Leadership, lockLeadership } from "../../store/watchers.ts";
import { agreeOnSenders } from "../agreement/agree-on-senders.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "../chain-reader.ts";

/** Where the walk over payments without a nonce is, and when it goes on. */
export type NonceBackfill = { afterSeq: string; pausedUntilMs: number };

const pageSize = 100;
const pauseMs = 10_000;

/**
 * Asks again for nonces that nobody told when their payments were seen, the next page of them: a
 * payment that a reorg takes away fails only by its nonce (rule CHAIN-5). Who sent it is what they say
 * as well: the receipt by which it was seen is one provider's word. A node may know a transaction
 * also while it waits to be mined again. What is final needs none. After a page of which nothing was
 * learnt it rests. Answers whether there is more to do at once, undefined while it rests. Throws
 * `ChainUnreachableError` where payments that stand in a block keep their nonce unknown.
 */
export const backfillNonces = async (
  watch: WatchContext,
  leadership: Leadership,
  { finalizedTo, backfill }: { finalizedTo: number; backfill: NonceBackfill },
): Promise<boolean | undefined> => {
  const { chain, clock, pool } = watch;
  if (clock.elapsedMs() < backfill.pausedUntilMs) return undefined;
  const { afterSeq } = backfill;
  const page = await listMissingNonces(pool, chain.id, { afterSeq, countMax: pageSize });
  const hasMore = page.length === pageSize;
  // Before anybody is asked: a page of which nothing is learnt holds up none behind it.
  backfill.afterSeq = (hasMore ? page.at(-1)?.seq : undefined) ?? "0";
  const transfersWithoutNonce = page.filter(
    ({ blockNumber, isOrphaned, nonce }) =>
      nonce === null && (isOrphaned || blockNumber > finalizedTo),
  );
  if (transfersWithoutNonce.length > 0) backfill.pausedUntilMs = clock.elapsedMs() + pauseMs;
  const hashes = new Set(transfersWithoutNonce.map(({ transactionHash }) => transactionHash));
  const senders = await agreeOnSenders(watch, [...hashes]);
  const transfersWithNonce = page.flatMap((transfer) => {
    if (transfer.nonce !== null) return [{ ...transfer, nonce: transfer.nonce }];
    const sender = senders.get(transfer.transactionHash);
    return sender === undefined
      ? []
      : [{ ...transfer, sender: sender.address, nonce: sender.nonce }];
  });
  if (transfersWithNonce.length > 0) {
    await transact(pool, async (tx) => {
      await lockLeadership(tx, leadership);
      await saveNonces(tx, chain.id, transfersWithNonce);
      const transactionHashes = [...senders.keys()];
      await markConfirmedByQuorum(tx, getChainSource(chain.id), {
        transactionHashes,
        now: clock.now(),
      });
    });
    backfill.pausedUntilMs = 0;
  }
  const learnedSeqs = new Set(transfersWithNonce.map(({ seq }) => seq));
  const unresolvedTransfers = transfersWithoutNonce.filter(
    ({ isOrphaned, seq }) => !isOrphaned && !learnedSeqs.has(seq),
  );
  if (unresolvedTransfers.length === 0) return hasMore;
  throw new ChainUnreachableError(
    `chain ${chain.id}: no two providers agree on the nonces of ${unresolvedTransfers.length} payments`,
  );
};
