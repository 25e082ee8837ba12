import {
  type ChainTransfer,
  type StoredTransfer,
  transferKey,
} from "../../domain/chain-transfer.ts";
import { isUsed, judgeLost } from "../../domain/judge-lost.ts";
import type { FinalityLines } from "../../domain/plan-scan.ts";
import { listLost } from "../../store/open-transfers.ts";
import type { Lead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { agreeOnReceipts } from "../agreement/agree-on-receipts.ts";
import { ChainUnreachableError } from "../chain-reader.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import { findOfSame, isSame, lookedFor, readTime } from "../transfers/find-transfers.ts";
import { type NonceObservations, forgetObservations, readUsedNonces } from "./used-nonces.ts";

const pageCountMax = 100;
const pagesMax = 50;

/** Where the walk over lost payments is, and what it came to. */
export type JudgeWalk = {
  /** "0" where a round is to begin. */
  afterSeq: string;
  /** The last final block as the round under way began. */
  roundTo: number;
  /** How many of the round could not be decided so far. */
  undecidedCount: number;
  /** The last final block at which a whole round decided all. */
  judgedTo: number;
  observations: NonceObservations;
};

/** A walk that is to begin. */
export const newJudgeWalk = (): JudgeWalk => ({
  afterSeq: "0",
  roundTo: -1,
  undecidedCount: 0,
  judgedTo: -1,
  observations: new Map(),
});

/**
 * Judges payments that a reorg took away before they settled, the next of them in a round over all:
 * which of them can no longer come back (rule CHAIN-5). A failure is for ever, so two providers, where
 * there are two, must say the same of receipt and nonce, and one that has forgotten the time of a
 * payment says nothing of it. Throws `ChainUnreachableError` where they do not, once it has judged the
 * others.
 */
export const judgeLostTransfers = async (
  watch: WatchContext,
  lead: Lead,
  { lines, walk }: { lines: FinalityLines; walk: JudgeWalk },
): Promise<void> => {
  const { chain, pool } = watch;
  if (walk.afterSeq === "0") {
    forgetObservations(walk.observations, walk.roundTo);
    Object.assign(walk, { roundTo: lines.final, undecidedCount: 0 });
  }
  for (let page = 0; page < pagesMax; page += 1) {
    const { afterSeq } = walk;
    const asked = { afterSeq, countMax: pageCountMax, ...lookedFor(chain) };
    const lost = await listLost(pool, chain.id, asked);
    const next = lost.length === pageCountMax ? lost.at(-1) : undefined;
    // Before anybody is asked: those that cannot be decided hold up none behind them.
    walk.afterSeq = next?.seq ?? "0";
    walk.undecidedCount += lost.length;
    if (lost.length > 0) walk.undecidedCount -= await judgePage(watch, lead, { lost, lines, walk });
    if (next !== undefined) continue;
    if (walk.undecidedCount === 0) walk.judgedTo = walk.roundTo;
    break;
  }
  if (walk.undecidedCount === 0) return;
  const what = `chain ${chain.id}: no two providers agree on ${walk.undecidedCount} lost payments`;
  throw new ChainUnreachableError(what);
};

/** Answers of how many of them the providers say the same. */
const judgePage = async (
  watch: WatchContext,
  lead: Lead,
  {
    lost,
    lines,
    walk: { observations },
  }: { lost: readonly StoredTransfer[]; lines: FinalityLines; walk: JudgeWalk },
): Promise<number> => {
  // They are read before the receipts: a transaction that is mined in between has a receipt then.
  const senders = [...new Set(lost.map(({ sender }) => sender))];
  const usedNonces = await readUsedNonces(watch, senders, {
    finalizedTo: lines.final,
    observations,
  });
  const blocks = new Map(
    lost.map(({ blockNumber, transactionHash }) => [transactionHash, blockNumber]),
  );
  // No other can fail by having no receipt.
  const seen = new Map(
    lost
      .filter(({ nonce, sender }) => isUsed(nonce, usedNonces.get(sender) ?? 0))
      .map((one) => [one.transactionHash, one]),
  );
  const fates = await agreeOnReceipts(watch, {
    blocks,
    seen,
    finalTo: lines.final,
    mayVote: () => true,
  });
  let decidedCount = 0;
  const settled = new Map<string, ChainTransfer>();
  const failed: StoredTransfer[] = [];
  for (const stored of lost) {
    const fate = fates.get(stored.transactionHash);
    const used = usedNonces.get(stored.sender);
    if (fate === undefined || used === undefined) continue;
    decidedCount += 1;
    const { receipt } = fate;
    const proved = receipt === undefined ? [] : findOfSame(watch, stored, receipt, lines);
    const found = proved.find((one) => isSame(one, stored));
    const judgement = judgeLost({
      finalizedTo: lines.final,
      receipt:
        receipt === undefined
          ? undefined
          : { blockNumber: receipt.blockNumber, holdsTransfer: found !== undefined },
      nonce: stored.nonce,
      usedNonces: used,
    });
    if (judgement === "failed") failed.push(stored);
    if (judgement === "found" && receipt !== undefined) {
      const minedAt = fate.minedAt ?? (await readTime(watch.reader, receipt));
      // Also what one provider had left out: the audit does not look into what is settled.
      for (const one of proved) {
        settled.set(transferKey(one), { ...one, occurredAt: minedAt ?? one.occurredAt });
      }
    }
  }
  await commitOutcomes(watch, lead, { settled: [...settled.values()], failed });
  return decidedCount;
};
