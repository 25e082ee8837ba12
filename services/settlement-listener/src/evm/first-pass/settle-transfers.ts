import type { Hex } from "viem";
import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import type { FinalityLines } from "../../domain/plan-scan.ts";
import { type DuePlace, listDue } from "../../store/chain-transfers.ts";
import type { Lead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import { findAgain } from "../transfers/find-transfers.ts";

const dueAtOnceMax = 500;
const pagesMax = 20;

/**
 * Settles the payments that the chain's policy has come to (rule CHAIN-4). Their receipts are read
 * again from the canonical chain: what they say now is the truth about the money. A payment waits
 * while its receipt cannot be had, or stands in another block than ours, and holds up none behind
 * it. A final receipt that no longer holds the payment fails it. Answers whether there is more to
 * do at once.
 */
export const settleTransfers = async (
  watch: WatchContext,
  lead: Lead,
  lines: FinalityLines,
): Promise<boolean> => {
  const { chain, log, pool } = watch;
  let after: DuePlace | undefined;
  let dueCount = 0;
  let waitingCount = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const asked = { toBlock: lines.settle, after, countMax: dueAtOnceMax };
    const due = await listDue(pool, chain.id, asked);
    waitingCount += await settlePage(watch, lead, { due, lines });
    dueCount += due.length;
    after = due.at(-1);
    if (due.length < dueAtOnceMax) break;
  }
  if (waitingCount > 0) {
    log.warn(
      { chain: chain.id, count: waitingCount },
      "payments are due, and their receipts are not there",
    );
  }
  return dueCount === pagesMax * dueAtOnceMax && waitingCount < dueCount;
};

/** Settles some payments; answers how many of them have to wait. */
const settlePage = async (
  watch: WatchContext,
  lead: Lead,
  { due, lines }: { due: readonly StoredTransfer[]; lines: FinalityLines },
): Promise<number> => {
  if (due.length === 0) return 0;
  const hashes = new Set(due.map(({ transactionHash }) => transactionHash as Hex));
  const receipts = await watch.reader.readReceipts([...hashes]);
  const settled: ChainTransfer[] = [];
  const failed: StoredTransfer[] = [];
  for (const stored of due) {
    const receipt = receipts.get(stored.transactionHash as Hex);
    if (receipt?.blockHash !== stored.blockHash) continue;
    const found = findAgain(watch, stored, receipt, lines);
    if (found !== undefined) settled.push(found);
    else if (stored.blockNumber <= lines.final) failed.push(stored);
  }
  await commitOutcomes(watch, lead, { settled, failed });
  return due.length - settled.length - failed.length;
};
