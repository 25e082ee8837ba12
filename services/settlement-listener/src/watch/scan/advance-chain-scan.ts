import { transact } from "@payment-links/postgres";
import type { ChainAdvance } from "@payment-links/contracts";
import { type BlockLimits, type ScanPlan, planScan } from "../../domain/plan-scan.ts";
import { recordTransfers } from "../../payment-reports/record-transfers.ts";
import { publishChainAdvance } from "../../payment-reports/publish-chain-advance.ts";
import {
  deleteBlocksBelow,
  findBlock,
  findBlockUpTo,
  insertBlocks,
} from "../../store/chain-blocks.ts";
import { saveReadSpan } from "../../store/read-spans.ts";
import { saveScannedHeight } from "../../store/scanned-heights.ts";
import {
  type Leadership,
  type WatchProgress,
  lockLeadership,
  moveCheckpoint,
  readProgress,
  saveFirstBlock,
} from "../../store/watchers.ts";
import { getQuorum } from "../agreement/reach-quorum.ts";
import { agreeOnBlock } from "../agreement/agree-on-block.ts";
import { confirmFinalizedBlock } from "../agreement/confirm-finalized-block.ts";
import { type ObservedHeads, readObservedHeads } from "../agreement/read-observed-heads.ts";
import { toScannedBlock } from "../chain/to-scanned-block.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { BlockHeader } from "@payment-links/chains/chain-reader";
import { getUnverifiedLimits } from "../transfers/find-transfers.ts";
import { handleReorg } from "./handle-reorg.ts";
import { type ScannedBatch, scanBlocks } from "./scan-blocks.ts";
import { settleTransfers } from "./settle-transfers.ts";
import { reportChainLag } from "./report-chain-lag.ts";

export type ScanStep = {
  state: "watching" | "catching_up" | "halted" | "behind";
  head: number | null;
  /** The last final block. Undefined if the chain is halted or has not started. */
  finalizedTo: number | undefined;
  /**
   * How many providers agree on the newest final block. Undefined if the chain is halted or has not
   * started.
   */
  agreeingProviderCount: number | undefined;
  /** Whether the next step should run immediately. */
  hasMore: boolean;
};

type ScanPosition = { scannedTo: number; finalizedTo: number };
type StartedProgress = WatchProgress & ScanPosition;

/**
 * Runs one step of the scan. Reads the stored progress, compares the last scanned block with the
 * node's, and settles due payments. Then it reads the next blocks, and commits their transfers with
 * the checkpoint. With two or more providers, two must agree on finality and settlement. All state
 * between steps is in the database.
 */
export const advanceChainScan = async (
  watch: WatchContext,
  leadership: Leadership,
): Promise<ScanStep> => {
  const { chain, pool } = watch;
  const progress = await readProgress(pool, chain.id);
  const notStarted = { finalizedTo: undefined, agreeingProviderCount: undefined };
  if (progress.haltedReason !== null)
    return { ...notStarted, state: "halted", head: null, hasMore: false };
  const observedHeads = await readObservedHeads(watch);
  if (!hasStarted(progress)) {
    const hasMore = await startScan(watch, leadership, progress, observedHeads);
    return { ...notStarted, state: "catching_up", head: observedHeads.head, hasMore };
  }
  return advanceScan(watch, leadership, progress, observedHeads);
};

const hasStarted = (progress: WatchProgress): progress is StartedProgress =>
  progress.scannedTo !== null && progress.finalizedTo !== null;

/**
 * Starts a watch at a final block and reads what follows. This is the stored first block if there
 * is one, for example after a resume. Otherwise it is the last final block, because no link can
 * have been paid before the service existed. With two or more providers, two must consider the
 * block final and agree on its hash. While too few providers answer, it stores the last final block
 * as the first block, so that the watch does not miss payments made in the meantime.
 */
const startScan = async (
  watch: WatchContext,
  leadership: Leadership,
  progress: WatchProgress,
  { agreedLimits, limitsByProvider, readLimits }: ObservedHeads,
): Promise<boolean> => {
  const { chain, clock, demote, log, pool, reader, verifiers } = watch;
  if (limitsByProvider.size < getQuorum(verifiers)) {
    await transact(pool, (tx) => saveFirstBlock(tx, leadership, readLimits.finalizedBlock));
    return false;
  }
  const firstBlock = Math.min(
    progress.firstBlock ?? agreedLimits.finalizedBlock,
    agreedLimits.finalizedBlock,
  );
  const [header] = await reader.readHeaders({ fromBlock: firstBlock, toBlock: firstBlock });
  const { dissentingProviders, hash } = await agreeOnBlock(watch, firstBlock);
  if (dissentingProviders.length > 0) demote(dissentingProviders);
  if (header === undefined || header.hash !== hash) return false;
  await transact(pool, async (tx) => {
    const { number } = header;
    await moveCheckpoint(tx, leadership, progress, { scannedTo: number, finalizedTo: number });
    await saveScannedHeight(tx, chain.id, { height: number, now: clock.now() });
    await insertBlocks(tx, chain.id, [toScannedBlock(header)]);
  });
  log.info({ chain: chain.id, block: header.number }, "chain watch started");
  return true;
};

const advanceScan = async (
  watch: WatchContext,
  leadership: Leadership,
  storedProgress: StartedProgress,
  observedHeads: ObservedHeads,
): Promise<ScanStep> => {
  const { chain, metrics, reader } = watch;
  const { head } = observedHeads;
  const hasSingleProvider = getQuorum(watch.verifiers) === 1;
  const { isSparse = false } = chain.settings;
  const freshBlocksMax = reader.freshBlocksMax?.();
  const plan = planScan(storedProgress.scannedTo, observedHeads.readLimits, {
    ...chain.settings,
    freshBlocksMax,
  });
  const storedTip = await findStoredTip(watch, storedProgress, plan);
  // A node that has not reached our last final block does not know the blocks after it.
  if (storedTip === undefined || storedTip.number < storedProgress.finalizedTo) {
    const { finalizedTo } = storedProgress;
    return { state: "behind", head, finalizedTo, agreeingProviderCount: 0, hasMore: false };
  }
  // A sparse chain stores few blocks. Its final block is the newest stored block that is final.
  // Payments settle only up to that block, because no reorg rolls it back.
  const { finalizedTo, agreeingProviderCount } =
    hasSingleProvider && !isSparse
      ? { finalizedTo: storedProgress.finalizedTo, agreeingProviderCount: 1 }
      : await confirmFinalizedBlock(watch, leadership, { ...storedProgress, observedHeads });
  const progress = { ...storedProgress, finalizedTo };
  const startedAtMs = performance.now();
  const toBlock = plan.kind === "fresh" ? plan.toBlock : storedTip.number;
  const headers = await reader.readHeaders({ fromBlock: storedTip.number, toBlock });
  const [tip] = headers;
  if (tip === undefined)
    return { state: "behind", head, finalizedTo, agreeingProviderCount, hasMore: false };
  if (tip.hash !== storedTip.hash) {
    await handleReorg(watch, leadership, { ...progress, tip: storedTip.number });
    return { state: "catching_up", head, finalizedTo, agreeingProviderCount, hasMore: true };
  }
  // Settling comes before scanning, because the order of payments determines which one completes a
  // link.
  const hasMoreDue = await settleTransfers(watch, leadership, { ...progress, observedHeads });
  if (hasMoreDue)
    return { state: "catching_up", head, finalizedTo, agreeingProviderCount, hasMore: true };
  // The scan itself advances the final block only if no second provider must confirm it.
  const readLimits = {
    ...observedHeads.readLimits,
    ...getUnverifiedLimits(watch.verifiers, observedHeads.readLimits),
  };
  const limits = isSparse
    ? {
        ...readLimits,
        settledBlock: Math.min(readLimits.settledBlock, finalizedTo),
        finalizedBlock: -1,
      }
    : readLimits;
  const scanReach = await scanAndCommit(watch, leadership, {
    plan,
    headers,
    limits,
    progress,
    observedHeads,
  });
  const { scannedTo } = scanReach;
  const hasAdvanced = scannedTo > progress.scannedTo;
  if (hasAdvanced) metrics.observeScanDuration(chain.id, (performance.now() - startedAtMs) / 1000);
  await reportProgress(watch, { progress: storedProgress, head, ...scanReach });
  const isBehind = scannedTo < observedHeads.readLimits.scanLimit;
  return {
    state: isBehind ? "catching_up" : "watching",
    head,
    finalizedTo: scanReach.finalizedTo,
    agreeingProviderCount,
    hasMore: isBehind && hasAdvanced,
  };
};

/**
 * Returns the stored block to compare with the node's: the plan's tip or, if that one is not
 * stored, the next lower stored block.
 */
const findStoredTip = async (
  { chain, pool }: Pick<WatchContext, "chain" | "pool">,
  { scannedTo, scannedHash }: StartedProgress,
  { tip }: ScanPlan,
): Promise<{ number: number; hash: string | null } | undefined> =>
  tip === scannedTo ? { number: scannedTo, hash: scannedHash } : findBlockUpTo(pool, chain.id, tip);

type ScanInput = {
  plan: ScanPlan;
  headers: readonly BlockHeader[];
  limits: BlockLimits;
  progress: StartedProgress;
  observedHeads: ObservedHeads;
};
type ScanReach = ScanPosition & { scannedAt: Date | null };

/** Scans the planned blocks and commits them batch by batch. Returns the new position. */
const scanAndCommit = async (
  watch: WatchContext,
  leadership: Leadership,
  { plan, headers, limits, progress, observedHeads }: ScanInput,
): Promise<ScanReach> => {
  let { scannedTo, finalizedTo } = progress;
  let scannedAt = progress.scannedMinedAt;
  const commitBatch = async (batch: ScannedBatch): Promise<void> => {
    const lastBlock = batch.blocks.at(-1);
    const newScannedTo = lastBlock?.number ?? scannedTo;
    const newFinalizedTo = Math.max(finalizedTo, Math.min(limits.finalizedBlock, newScannedTo));
    if (newScannedTo === scannedTo && newFinalizedTo === finalizedTo)
      return publishDueAdvance(watch, leadership, progress, observedHeads);
    const from = { scannedTo, finalizedTo };
    const newPosition = { scannedTo: newScannedTo, finalizedTo: newFinalizedTo };
    await commitScannedBatch(watch, leadership, batch, { from, to: newPosition, observedHeads });
    ({ scannedTo, finalizedTo } = newPosition);
    scannedAt = lastBlock?.minedAt ?? scannedAt;
  };
  await scanBlocks(watch, { plan, headers, limits }, commitBatch);
  // The final block can also advance without new blocks.
  await commitBatch({ blocks: [], transfers: [], providerId: "" });
  return { scannedTo, finalizedTo, scannedAt };
};

/** Commits a batch and the checkpoint in one transaction. */
const commitScannedBatch = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  leadership: Leadership,
  { blocks, transfers, providerId }: ScannedBatch,
  {
    from,
    to,
    observedHeads,
  }: { from: ScanPosition; to: ScanPosition; observedHeads: ObservedHeads },
): Promise<void> => {
  const isPublished = await transact(pool, async (tx) => {
    const now = clock.now();
    await moveCheckpoint(tx, leadership, from, to);
    if (blocks.length > 0) {
      await insertBlocks(tx, chain.id, blocks);
      await saveScannedHeight(tx, chain.id, { height: to.scannedTo, now });
      const span = { fromBlock: from.scannedTo + 1, toBlock: to.scannedTo, provider: providerId };
      await saveReadSpan(tx, chain.id, span);
    }
    await recordTransfers(tx, transfers, now);
    if (to.finalizedTo > from.finalizedTo) {
      await deleteBlocksBelow(tx, chain.id, to.finalizedTo);
    }
    return publishChainAdvance(tx, toChainAdvance(chain, observedHeads, now));
  });
  if (isPublished || transfers.length > 0) wakeRelay();
  if (transfers.length === 0) return;
  const seenCount = transfers.filter(({ status }) => status === "seen").length;
  metrics.countTransfers(chain.id, "seen", seenCount);
  metrics.countTransfers(chain.id, "settled", transfers.length - seenCount);
};

const toChainAdvance = (
  { id, settings: { finality, finalityByAmount } }: WatchContext["chain"],
  { agreedLimits, head }: ObservedHeads,
  at: Date,
): ChainAdvance => ({
  chainId: id,
  headBlock: head,
  settledTo: agreedLimits.settledBlock,
  neededBlocks: typeof finality === "object" ? finality.blocks : null,
  ...(finalityByAmount && { neededByAmount: [...finalityByAmount] }),
  at,
});

/**
 * Publishes the chain's progress if a report was skipped because it came too soon after the
 * previous one. Waiting for the next block would take too long: on Bitcoin, it can take an hour.
 */
const publishDueAdvance = async (
  { chain, clock, pool, wakeRelay }: WatchContext,
  leadership: Leadership,
  { advanceDueAt }: WatchProgress,
  observedHeads: ObservedHeads,
): Promise<void> => {
  const now = clock.now();
  if (advanceDueAt === null || now < advanceDueAt) return;
  await transact(pool, async (tx) => {
    await lockLeadership(tx, leadership);
    await publishChainAdvance(tx, toChainAdvance(chain, observedHeads, now));
  });
  wakeRelay();
};

const reportProgress = async (
  watch: WatchContext,
  reached: ScanReach & { progress: StartedProgress; head: number },
): Promise<void> => {
  const { chain, metrics, pool } = watch;
  const { finalizedTo, head, progress, scannedAt, scannedTo } = reached;
  const finalizedAt =
    finalizedTo === progress.finalizedTo
      ? progress.finalizedMinedAt
      : ((await findBlock(pool, chain.id, finalizedTo))?.minedAt ?? null);
  reportChainLag(watch, { scannedAt, finalizedAt });
  metrics.setLagBlocks(chain.id, {
    headLagBlocks: Math.max(0, head - scannedTo),
    finalizedLagBlocks: Math.max(0, head - finalizedTo),
  });
};
