import { transact } from "@payment-links/postgres";
import type { ChainAdvance } from "@payment-links/contracts";
import { type Lines, type ScanPlan, planScan } from "../../domain/plan-scan.ts";
import { recordTransfers } from "../../sightings/record-transfers.ts";
import { tellChainAdvance } from "../../sightings/tell-chain-advance.ts";
import {
  deleteBlocksBelow,
  findBlock,
  findBlockUpTo,
  insertBlocks,
} from "../../store/chain-blocks.ts";
import { saveSpan } from "../../store/read-spans.ts";
import { saveScannedHeight } from "../../store/scanned-heights.ts";
import {
  type Lead,
  type WatchProgress,
  lockLead,
  moveCheckpoint,
  readProgress,
  saveFirstBlock,
} from "../../store/watchers.ts";
import { quorumOf } from "../agreement/agree.ts";
import { agreeOnBlock } from "../agreement/agree-on-block.ts";
import { confirmFinal } from "../agreement/confirm-final.ts";
import { type Sight, readSight } from "../agreement/read-sight.ts";
import { blockOf } from "../chain/block-of.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { BlockHeader } from "../chain-reader.ts";
import { linesOfOne } from "../transfers/find-transfers.ts";
import { reorganize } from "./reorganize.ts";
import { type Scanned, scanBlocks } from "./scan-blocks.ts";
import { settleTransfers } from "./settle-transfers.ts";
import { tellAges } from "./tell-ages.ts";

/** What a step saw and came to. */
export type Step = {
  state: "watching" | "catching_up" | "halted" | "behind";
  head: number | null;
  /** The last final block; undefined where the chain is halted or has not begun. */
  finalizedTo: number | undefined;
  /** How many providers agree on the newest final block; undefined before the chain has begun. */
  voiceCount: number | undefined;
  /** Whether there is more to do at once. */
  hasMore: boolean;
};

type Place = { scannedTo: number; finalizedTo: number };
type Begun = WatchProgress & Place;

/**
 * Takes one step after the newest blocks: reads how far the watch has come, holds the last scanned
 * block against the node's, settles what has come of age, reads what follows, and commits what it
 * found with the checkpoint. Where there are two providers, what is final and what settles is what
 * two of them say. Nothing is kept between steps but in the database.
 */
export const stepChain = async (watch: WatchContext, lead: Lead): Promise<Step> => {
  const { chain, pool } = watch;
  const progress = await readProgress(pool, chain.id);
  const notBegun = { finalizedTo: undefined, voiceCount: undefined };
  if (progress.haltedReason !== null)
    return { ...notBegun, state: "halted", head: null, hasMore: false };
  const sight = await readSight(watch);
  if (!hasBegun(progress)) {
    const hasMore = await begin(watch, lead, progress, sight);
    return { ...notBegun, state: "catching_up", head: sight.head, hasMore };
  }
  return follow(watch, lead, progress, sight);
};

const hasBegun = (progress: WatchProgress): progress is Begun =>
  progress.scannedTo !== null && progress.finalizedTo !== null;

/**
 * Begins a watch behind a final block: the last one, as no link of ours can have been paid before we
 * were there, or the one at which it is to begin anew. Where there are two providers, two must say that it
 * is final, of two that do not agree the lower, and what it is. While one alone answers, it is kept from where
 * the watch is to begin, so that nothing is left out that is paid meanwhile.
 */
const begin = async (
  watch: WatchContext,
  lead: Lead,
  before: WatchProgress,
  { agreed, linesOf, read }: Sight,
): Promise<boolean> => {
  const { chain, clock, demote, log, pool, reader, witnesses } = watch;
  if (linesOf.size < quorumOf(witnesses)) {
    await transact(pool, (tx) => saveFirstBlock(tx, lead, read.final));
    return false;
  }
  const firstBlock = Math.min(before.firstBlock ?? agreed.final, agreed.final);
  const [header] = await reader.readHeaders({ fromBlock: firstBlock, toBlock: firstBlock });
  const { dissenters, hash } = await agreeOnBlock(watch, firstBlock);
  if (dissenters.length > 0) demote(dissenters);
  if (header === undefined || header.hash !== hash) return false;
  await transact(pool, async (tx) => {
    const { number } = header;
    await moveCheckpoint(tx, lead, before, { scannedTo: number, finalizedTo: number });
    await saveScannedHeight(tx, chain.id, { height: number, now: clock.now() });
    await insertBlocks(tx, chain.id, [blockOf(header)]);
  });
  log.info({ chain: chain.id, block: header.number }, "the watch of a chain begins");
  return true;
};

const follow = async (
  watch: WatchContext,
  lead: Lead,
  before: Begun,
  sight: Sight,
): Promise<Step> => {
  const { chain, metrics, reader } = watch;
  const { head } = sight;
  const isAlone = quorumOf(watch.witnesses) === 1;
  const { isSparse = false } = chain.settings;
  const freshBlocksMax = reader.freshBlocksMax?.();
  const plan = planScan(before.scannedTo, sight.read, { ...chain.settings, freshBlocksMax });
  const stored = await findTip(watch, before, plan);
  // A node behind our last final block says nothing of what follows it.
  if (stored === undefined || stored.number < before.finalizedTo) {
    const { finalizedTo } = before;
    return { state: "behind", head, finalizedTo, voiceCount: 0, hasMore: false };
  }
  // Of a sparse chain few blocks are kept: what is final is the newest of them, and only up to there
  // does anything settle, as no fork goes back further.
  const { finalizedTo, voiceCount } =
    isAlone && !isSparse
      ? { finalizedTo: before.finalizedTo, voiceCount: 1 }
      : await confirmFinal(watch, lead, { ...before, sight });
  const progress = { ...before, finalizedTo };
  const startedAtMs = performance.now();
  const toBlock = plan.kind === "fresh" ? plan.toBlock : stored.number;
  const headers = await reader.readHeaders({ fromBlock: stored.number, toBlock });
  const [tip] = headers;
  if (tip === undefined) return { state: "behind", head, finalizedTo, voiceCount, hasMore: false };
  if (tip.hash !== stored.hash) {
    await reorganize(watch, lead, { ...progress, tip: stored.number });
    return { state: "catching_up", head, finalizedTo, voiceCount, hasMore: true };
  }
  // It comes before what follows: the order of payments decides which of them completes a link.
  const isMoreDue = await settleTransfers(watch, lead, { ...progress, sight });
  if (isMoreDue) return { state: "catching_up", head, finalizedTo, voiceCount, hasMore: true };
  // What is final moves on with what is scanned only where nobody else is to vouch for it.
  const read = { ...sight.read, ...linesOfOne(watch.witnesses, sight.read) };
  const lines = isSparse
    ? { ...read, settle: Math.min(read.settle, finalizedTo), final: -1 }
    : read;
  const reach = await scan(watch, lead, { plan, headers, lines, progress, sight });
  const { scannedTo } = reach;
  const isMoving = scannedTo > progress.scannedTo;
  if (isMoving) metrics.scanned(chain.id, (performance.now() - startedAtMs) / 1000);
  await measure(watch, { progress: before, head, ...reach });
  const isBehind = scannedTo < sight.read.scan;
  return {
    state: isBehind ? "catching_up" : "watching",
    head,
    finalizedTo: reach.finalizedTo,
    voiceCount,
    hasMore: isBehind && isMoving,
  };
};

/**
 * The block that is held against the node's: the plan's tip, or where that is none of those that are
 * stored, as of a wide range only the last is, the stored one below it.
 */
const findTip = async (
  { chain, pool }: Pick<WatchContext, "chain" | "pool">,
  { scannedTo, scannedHash }: Begun,
  { tip }: ScanPlan,
): Promise<{ number: number; hash: string | null } | undefined> =>
  tip === scannedTo ? { number: scannedTo, hash: scannedHash } : findBlockUpTo(pool, chain.id, tip);

type Scan = {
  plan: ScanPlan;
  headers: readonly BlockHeader[];
  lines: Lines;
  progress: Begun;
  sight: Sight;
};
type Reach = Place & { scannedAt: Date | null };

/** Scans what the plan asks for, and commits it piece by piece; answers how far that came. */
const scan = async (
  watch: WatchContext,
  lead: Lead,
  { plan, headers, lines, progress, sight }: Scan,
): Promise<Reach> => {
  let { scannedTo, finalizedTo } = progress;
  let scannedAt = progress.scannedMinedAt;
  const commitScanned = async (scanned: Scanned): Promise<void> => {
    const last = scanned.blocks.at(-1);
    const to = last?.number ?? scannedTo;
    const final = Math.max(finalizedTo, Math.min(lines.final, to));
    if (to === scannedTo && final === finalizedTo)
      return publishLateAdvance(watch, lead, progress, sight);
    const from = { scannedTo, finalizedTo };
    const reach = { scannedTo: to, finalizedTo: final };
    await commit(watch, lead, scanned, { from, to: reach, sight });
    ({ scannedTo, finalizedTo } = reach);
    scannedAt = last?.minedAt ?? scannedAt;
  };
  await scanBlocks(watch, { plan, headers, lines }, commitScanned);
  // The final block moves on also where no block is new.
  await commitScanned({ blocks: [], transfers: [], readBy: "" });
  return { scannedTo, finalizedTo, scannedAt };
};

/** Commits what was found, and how far: together or not at all. */
const commit = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  { blocks, transfers, readBy }: Scanned,
  { from, to, sight }: { from: Place; to: Place; sight: Sight },
): Promise<void> => {
  const isTold = await transact(pool, async (tx) => {
    const now = clock.now();
    await moveCheckpoint(tx, lead, from, to);
    if (blocks.length > 0) {
      await insertBlocks(tx, chain.id, blocks);
      await saveScannedHeight(tx, chain.id, { height: to.scannedTo, now });
      const span = { fromBlock: from.scannedTo + 1, toBlock: to.scannedTo, provider: readBy };
      await saveSpan(tx, chain.id, span);
    }
    await recordTransfers(tx, transfers, now);
    if (to.finalizedTo > from.finalizedTo) {
      await deleteBlocksBelow(tx, chain.id, to.finalizedTo);
    }
    return tellChainAdvance(tx, advanceOf(chain, sight, now));
  });
  if (isTold || transfers.length > 0) wakeRelay();
  if (transfers.length === 0) return;
  const seen = transfers.filter(({ state }) => state === "seen").length;
  metrics.transferred(chain.id, "seen", seen);
  metrics.transferred(chain.id, "settled", transfers.length - seen);
};

const advanceOf = (
  { id, settings: { finality, finalityByAmount } }: WatchContext["chain"],
  { agreed, head }: Sight,
  at: Date,
): ChainAdvance => ({
  chainId: id,
  headBlock: head,
  settledTo: agreed.settle,
  neededBlocks: typeof finality === "object" ? finality.blocks : null,
  ...(finalityByAmount && { neededByAmount: [...finalityByAmount] }),
  at,
});

/**
 * Publishes how far the chain is if that was left out, as a block came soon after the last report. On
 * Bitcoin the next block may take an hour.
 */
const publishLateAdvance = async (
  { chain, clock, pool, wakeRelay }: WatchContext,
  lead: Lead,
  { advanceDueAt }: WatchProgress,
  sight: Sight,
): Promise<void> => {
  const now = clock.now();
  if (advanceDueAt === null || now < advanceDueAt) return;
  await transact(pool, async (tx) => {
    await lockLead(tx, lead);
    await tellChainAdvance(tx, advanceOf(chain, sight, now));
  });
  wakeRelay();
};

const measure = async (
  watch: WatchContext,
  reach: Reach & { progress: Begun; head: number },
): Promise<void> => {
  const { chain, metrics, pool } = watch;
  const { finalizedTo, head, progress, scannedAt, scannedTo } = reach;
  const finalizedAt =
    finalizedTo === progress.finalizedTo
      ? progress.finalizedMinedAt
      : ((await findBlock(pool, chain.id, finalizedTo))?.minedAt ?? null);
  tellAges(watch, { scannedAt, finalizedAt });
  metrics.measured(chain.id, {
    headLagBlocks: Math.max(0, head - scannedTo),
    finalizedLagBlocks: Math.max(0, head - finalizedTo),
  });
};
