import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import type { FinalityLines } from "../../domain/plan-scan.ts";
import { type OpenPlace, listDue } from "../../store/open-transfers.ts";
import type { Lead } from "../../store/watchers.ts";
import { agreeOnReceipts } from "../agreement/agree-on-receipts.ts";
import type { Sight } from "../agreement/read-sight.ts";
import type { ChainSettings } from "../chain/chain-settings.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { TransactionReceipt } from "../chain-reader.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import {
  findOfSame,
  isDeepEnough,
  isSame,
  lookedFor,
  readTime,
  withLinkSums,
} from "../transfers/find-transfers.ts";

/** How far the watch and its providers have come. */
type Reach = { scannedTo: number; finalizedTo: number; sight: Sight };

const dueAtOnceMax = 500;
const pagesMax = 20;

/**
 * Settles the payments that the chain's policy has come to (rule CHAIN-4). Their receipts are read
 * again from the canonical chain, of two providers where there are two: what they agree on now is
 * the truth about the money. A payment waits while they do not, or its receipt stands in another
 * block than ours which is not final, and holds up none behind it. A final receipt that no longer holds
 * the payment fails it; one of which two providers know nothing in a final block is orphaned, if they
 * would still tell of it. Answers whether there is more to do at once.
 */
export const settleTransfers = async (
  watch: WatchContext,
  lead: Lead,
  reach: Reach,
): Promise<boolean> => {
  const { chain, log, pool } = watch;
  let after: OpenPlace | undefined;
  let dueCount = 0;
  let waitingCount = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const toBlock = settleLineOf(chain.settings, reach);
    const asked = { toBlock, after, countMax: dueAtOnceMax, ...lookedFor(chain) };
    const listed = await listDue(pool, chain.id, asked);
    // Some need more blocks than others.
    const due = withLinkSums(listed).flatMap(({ ofLink, payment }) =>
      isDeepEnough(chain, ofLink, reach.sight.agreed.settle) ? payment : [],
    );
    waitingCount += await settlePage(watch, lead, due, reach);
    dueCount += due.length;
    after = listed.at(-1);
    if (listed.length < dueAtOnceMax) break;
  }
  if (waitingCount > 0) {
    log.warn(
      { chain: chain.id, count: waitingCount },
      "payments are due, and their receipts are not there",
    );
  }
  return dueCount === pagesMax * dueAtOnceMax && waitingCount < dueCount;
};

/**
 * Up to where payments may settle. What is final on a sparse chain and stands above the last kept block
 * would be taken away by a fork that has to go back to that block.
 */
const settleLineOf = (
  { finality, isSparse = false }: ChainSettings,
  { finalizedTo, scannedTo, sight }: Reach,
): number =>
  Math.min(sight.agreed.settle, isSparse && finality === "finalized" ? finalizedTo : scannedTo);

/**
 * Whether a payment stands for good in another block than it was shown in, by a receipt on which
 * providers agree: whoever showed it elsewhere was wrong.
 */
const staysThere = (
  { chain }: WatchContext,
  { amount }: StoredTransfer,
  { blockNumber, sender }: TransactionReceipt,
  lines: FinalityLines,
): boolean =>
  blockNumber <= lines.final && isDeepEnough(chain, { amount, blockNumber, sender }, lines.settle);

/** Settles some payments; answers how many of them have to wait. */
const settlePage = async (
  watch: WatchContext,
  lead: Lead,
  due: readonly StoredTransfer[],
  { finalizedTo, sight }: Reach,
): Promise<number> => {
  if (due.length === 0) return 0;
  const { moreBlocksOf = () => 0 } = watch.chain;
  const blocks = new Map(
    withLinkSums(due).map(({ ofLink }) => [
      ofLink.transactionHash,
      ofLink.blockNumber + moreBlocksOf(ofLink),
    ]),
  );
  // A lone node may only be short of what it does not tell.
  const mayMiss = due.filter(
    ({ blockNumber }) => blockNumber <= finalizedTo && watch.witnesses.length > 1,
  );
  const seen = new Map(mayMiss.map((one) => [one.transactionHash, one]));
  const fates = await agreeOnReceipts(watch, {
    blocks,
    seen,
    finalTo: finalizedTo,
    mayVote: ({ id }, blockNumber) => blockNumber <= (sight.linesOf.get(id)?.settle ?? -1),
  });
  const lines = { settle: sight.agreed.settle, final: finalizedTo };
  const settled: ChainTransfer[] = [];
  const hidden: ChainTransfer[] = [];
  const failed: StoredTransfer[] = [];
  const missing: StoredTransfer[] = [];
  const duesOf = Map.groupBy(due, ({ transactionHash }) => transactionHash);
  for (const stored of due) {
    const fate = fates.get(stored.transactionHash);
    const { minedAt, receipt } = fate ?? {};
    const isFinal = stored.blockNumber <= finalizedTo;
    const isGone = fate !== undefined && receipt === undefined;
    if (isGone && seen.has(stored.transactionHash)) missing.push(stored);
    if (receipt === undefined) continue;
    const isElsewhere = receipt.blockHash !== stored.blockHash;
    if (isElsewhere && !staysThere(watch, stored, receipt, lines)) continue;
    const toldAt = minedAt ?? (isElsewhere ? await readTime(watch.reader, receipt) : undefined);
    const occurredAt = toldAt ?? stored.occurredAt;
    const proved = findOfSame(watch, { ...stored, occurredAt }, receipt, lines);
    const found = proved.find((one) => isSame(one, stored));
    // Another page holds more payments of the same transaction, and all of them together need more blocks.
    if (found?.state === "seen") continue;
    if (found !== undefined) settled.push(found);
    else if (isFinal || isElsewhere) failed.push(stored);
    const dues = duesOf.get(stored.transactionHash) ?? [];
    if (dues[0] !== stored) continue;
    // What the first reader left out of the receipt: the audit does not look at what is known.
    hidden.push(...proved.filter((one) => !dues.some((known) => isSame(one, known))));
  }
  await commitOutcomes(watch, lead, { settled: [...settled, ...hidden], failed, missing });
  return due.length - settled.length - failed.length - missing.length;
};
