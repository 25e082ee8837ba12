import { transact } from "@payment-links/postgres";
import { deleteUnmatchedTransfers } from "../../store/chain-transfers.ts";
import { type Lead, lockLead, readProgress } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { auditRange } from "./audit-range.ts";
import { judgeLostTransfers } from "./judge-lost-transfers.ts";
import { rescanRange } from "./rescan-range.ts";

/** What the second pass remembers of a chain between its runs. It may be lost without harm. */
export type PassMemory = { judgedTo: number; forgotAtMs: number };

const forgetEveryMs = 10 * 60_000;
const unmatchedKeptMs = 24 * 60 * 60_000;
const forgottenAtOnceMax = 5_000;

/**
 * Does what is due over final blocks, behind the first pass: judges payments that a reorg took
 * away, forgets transfers for which no link came, takes a step of an operator's rescan, and reads a
 * range once more, by another provider where there is one. Answers whether there is more to do at
 * once.
 */
export const runSecondPass = async (
  watch: WatchContext,
  lead: Lead,
  memory: PassMemory,
): Promise<boolean> => {
  const { chain, pool } = watch;
  const { auditedTo, finalizedTo, haltedReason } = await readProgress(pool, chain.id);
  if (haltedReason !== null || finalizedTo === null) return false;
  if (finalizedTo > memory.judgedTo) {
    await judgeLostTransfers(watch, lead, { settle: finalizedTo, final: finalizedTo });
    memory.judgedTo = finalizedTo;
  }
  await forget(watch, lead, memory);
  const hasRescanned = await rescanRange(watch, lead, finalizedTo);
  if (auditedTo === null || auditedTo >= finalizedTo) return hasRescanned;
  await auditRange(watch, lead, { auditedTo, finalizedTo });
  return true;
};

const forget = async (watch: WatchContext, lead: Lead, memory: PassMemory): Promise<void> => {
  const { chain, clock, pool } = watch;
  const nowMs = clock.now().getTime();
  if (nowMs - memory.forgotAtMs < forgetEveryMs) return;
  const before = new Date(nowMs - unmatchedKeptMs);
  await transact(pool, async (tx) => {
    await lockLead(tx, lead);
    await deleteUnmatchedTransfers(tx, chain.id, { before, countMax: forgottenAtOnceMax });
  });
  memory.forgotAtMs = nowMs;
};
