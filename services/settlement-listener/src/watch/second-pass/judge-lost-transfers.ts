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
import { agree, quorumOf } from "../agreement/agree.ts";
import { ChainUnreachableError } from "../chain-reader.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import { findOfSame, isSame, lookedFor, readTime } from "../transfers/find-transfers.ts";

const pageCountMax = 100;
const pagesMax = 50;
const sendersAtOnceMax = 4;

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
};

/** A walk that is to begin. */
export const newJudgeWalk = (): JudgeWalk => ({
  afterSeq: "0",
  roundTo: -1,
  undecidedCount: 0,
  judgedTo: -1,
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
  if (walk.afterSeq === "0") Object.assign(walk, { roundTo: lines.final, undecidedCount: 0 });
  for (let page = 0; page < pagesMax; page += 1) {
    const { afterSeq } = walk;
    const asked = { afterSeq, countMax: pageCountMax, ...lookedFor(chain) };
    const lost = await listLost(pool, chain.id, asked);
    const next = lost.length === pageCountMax ? lost.at(-1) : undefined;
    // Before anybody is asked: those that cannot be decided hold up none behind them.
    walk.afterSeq = next?.seq ?? "0";
    walk.undecidedCount += lost.length;
    if (lost.length > 0) walk.undecidedCount -= await judgePage(watch, lead, { lost, lines });
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
  { lost, lines }: { lost: readonly StoredTransfer[]; lines: FinalityLines },
): Promise<number> => {
  // They are read before the receipts: a transaction that is mined in between has a receipt then.
  const usedNonces = await agreeOnUsedNonces(watch, lost, lines.final);
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

/**
 * How many nonces each sender had used at a block, where providers agree on it. One question may have a
 * provider read blocks of megabytes, so few are put at once; one that fails leaves out its sender alone.
 */
const agreeOnUsedNonces = async (
  { witnesses }: WatchContext,
  lost: readonly StoredTransfer[],
  finalizedTo: number,
): Promise<ReadonlyMap<string, number>> => {
  const { agreed } = await agree({
    witnesses,
    quorum: quorumOf(witnesses),
    keys: [...new Set(lost.map(({ sender }) => sender))],
    ask: async ({ reader }, senders) => {
      const used = new Map<string, number>();
      const readOne = async (sender: string): Promise<void> => {
        try {
          used.set(sender, await reader.readUsedNonces(sender, finalizedTo));
        } catch (error) {
          if (!(error instanceof ChainUnreachableError)) throw error;
        }
      };
      for (let at = 0; at < senders.length; at += sendersAtOnceMax) {
        await Promise.all(senders.slice(at, at + sendersAtOnceMax).map(readOne));
      }
      return used;
    },
    printOf: String,
  });
  return agreed;
};
