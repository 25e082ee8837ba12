import { chainSource } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { listLackingNonces, saveNonces } from "../../store/open-transfers.ts";
import { markWitnessed } from "../../store/payments.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import { agreeOnSenders } from "../agreement/agree-on-senders.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "../chain-reader.ts";

/** Where the walk over payments without a nonce is, and when it goes on. */
export type NonceWalk = { afterSeq: string; restsUntilMs: number };

const askedAtOnceMax = 100;
const restMs = 10_000;

/**
 * Asks again for nonces that nobody told when their payments were seen, the next page of them: a
 * payment that a reorg takes away fails only by its nonce (rule CHAIN-5). Who sent it is what they say
 * as well: the receipt by which it was seen is one provider's word. A node may know a transaction
 * also while it waits to be mined again. What is final needs none. After a page of which nothing was
 * learnt it rests. Answers whether there is more to do at once, undefined while it rests. Throws
 * `ChainUnreachableError` where payments that stand in a block keep their nonce unknown.
 */
export const learnNonces = async (
  watch: WatchContext,
  lead: Lead,
  { finalizedTo, walk }: { finalizedTo: number; walk: NonceWalk },
): Promise<boolean | undefined> => {
  const { chain, clock, pool } = watch;
  if (clock.elapsedMs() < walk.restsUntilMs) return undefined;
  const { afterSeq } = walk;
  const page = await listLackingNonces(pool, chain.id, { afterSeq, countMax: askedAtOnceMax });
  const isMore = page.length === askedAtOnceMax;
  // Before anybody is asked: a page of which nothing is learnt holds up none behind it.
  walk.afterSeq = (isMore ? page.at(-1)?.seq : undefined) ?? "0";
  const asked = page.filter(
    ({ blockNumber, isOrphaned, nonce }) =>
      nonce === null && (isOrphaned || blockNumber > finalizedTo),
  );
  if (asked.length > 0) walk.restsUntilMs = clock.elapsedMs() + restMs;
  const hashes = new Set(asked.map(({ transactionHash }) => transactionHash));
  const senders = await agreeOnSenders(watch, [...hashes]);
  const known = page.flatMap((one) => {
    if (one.nonce !== null) return [{ ...one, nonce: one.nonce }];
    const sent = senders.get(one.transactionHash);
    return sent === undefined ? [] : [{ ...one, sender: sent.address, nonce: sent.nonce }];
  });
  if (known.length > 0) {
    await transact(pool, async (tx) => {
      await lockLead(tx, lead);
      await saveNonces(tx, chain.id, known);
      const transactionHashes = [...senders.keys()];
      await markWitnessed(tx, chainSource(chain.id), { transactionHashes, now: clock.now() });
    });
    walk.restsUntilMs = 0;
  }
  const learnt = new Set(known.map(({ seq }) => seq));
  const open = asked.filter(({ isOrphaned, seq }) => !isOrphaned && !learnt.has(seq));
  if (open.length === 0) return isMore;
  throw new ChainUnreachableError(
    `chain ${chain.id}: no two providers agree on the nonces of ${open.length} payments`,
  );
};
