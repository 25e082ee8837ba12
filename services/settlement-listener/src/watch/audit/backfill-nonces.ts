import { getChainSource } from "@payment-links/chains";
import { transact } from "@payment-links/postgres";
import { listMissingNonces, saveNonces } from "../../store/open-transfers.ts";
import { markConfirmedByQuorum } from "../../store/payments.ts";
import { type Leadership, lockLeadership } from "../../store/watchers.ts";
import { agreeOnSenders } from "../agreement/agree-on-senders.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "@payment-links/chains/chain-reader";

/** The position in the list of payments without a nonce, and the time at which to continue. */
export type NonceBackfill = { afterSeq: string; pausedUntilMs: number };

const pageSize = 100;
const pauseMs = 10_000;

/**
 * Requests the nonces that were unknown when payments were seen, one page per call. The nonces are
 * needed because an orphaned payment can fail only by its nonce (rule CHAIN-5). Also stores the
 * senders that providers agree on, because the original receipt came from one provider. Orphaned
 * payments are included, because a node can still have their transaction in its mempool. Payments
 * in final blocks need no nonce. Pauses after a page without results. Returns whether there is more
 * to do now, or undefined while it pauses. Throws `ChainUnreachableError` if the nonces of payments
 * in a block remain unknown.
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
  // The cursor moves before the requests, so that an unresolved page does not block the next ones.
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
