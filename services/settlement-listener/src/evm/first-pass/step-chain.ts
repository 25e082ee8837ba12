import { transact } from "@payment-links/postgres";
import {
  type Lines,
  type ScanPlan,
  type Heads,
  drawLines,
  planScan,
} from "../../domain/plan-scan.ts";
import { recordTransfers } from "../../sightings/record-transfers.ts";
import { deleteBlocksBelow, findBlock, insertBlocks } from "../../store/chain-blocks.ts";
import { finalizeTransfers } from "../../store/chain-transfers.ts";
import {
  type Lead,
  type WatchProgress,
  lockLead,
  readProgress,
  saveCheckpoint,
} from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { BlockHeader } from "../rpc/chain-reader.ts";
import { reorganize } from "./reorganize.ts";
import { type Scanned, blockOf, scanBlocks } from "./scan-blocks.ts";
import { settleTransfers } from "./settle-transfers.ts";

/** What a step saw and came to. */
export type Step = {
  state: "watching" | "catching_up" | "halted" | "behind";
  head: number | null;
  /** The last final block; undefined where the chain is halted or has not begun. */
  finalizedTo: number | undefined;
  /** Whether there is more to do at once. */
  hasMore: boolean;
};

type Begun = WatchProgress & { scannedTo: number; finalizedTo: number };

/**
 * Takes one step after the newest blocks: reads how far the watch has come, holds the last scanned
 * block against the node's, settles what has come of age, reads what follows, and commits what it
 * found with the checkpoint. Nothing is kept between steps but in the database.
 */
export const stepChain = async (watch: WatchContext, lead: Lead): Promise<Step> => {
  const { chain, pool, reader } = watch;
  const progress = await readProgress(pool, chain.id);
  if (progress.haltedReason !== null)
    return { state: "halted", head: null, finalizedTo: undefined, hasMore: false };
  const heads = await reader.readHeads();
  const lines = drawLines(heads, chain.settings);
  if (!hasBegun(progress)) {
    const hasMore = await begin(
      watch,
      lead,
      Math.min(progress.firstBlock ?? lines.final, lines.final),
    );
    return { state: "catching_up", head: heads.latest, finalizedTo: undefined, hasMore };
  }
  return follow(watch, lead, { progress, heads, lines });
};

const hasBegun = (progress: WatchProgress): progress is Begun =>
  progress.scannedTo !== null && progress.finalizedTo !== null;

/**
 * Begins a watch behind a final block: the last one, as no link of ours can have been paid before we
 * were there, or the one at which it is to begin anew.
 */
const begin = async (watch: WatchContext, lead: Lead, firstBlock: number): Promise<boolean> => {
  const { chain, log, pool, reader } = watch;
  const [header] = await reader.readHeaders({ fromBlock: firstBlock, toBlock: firstBlock });
  if (header === undefined) return false;
  await transact(pool, async (tx) => {
    await lockLead(tx, lead);
    await insertBlocks(tx, chain.id, [blockOf(header)]);
    const { number } = header;
    await saveCheckpoint(tx, chain.id, { scannedTo: number, finalizedTo: number });
  });
  log.info({ chain: chain.id, block: header.number }, "the watch of a chain begins");
  return true;
};

const follow = async (
  watch: WatchContext,
  lead: Lead,
  { progress, heads, lines }: { progress: Begun; heads: Heads; lines: Lines },
): Promise<Step> => {
  const { chain, metrics, pool, reader } = watch;
  const head = heads.latest;
  const { finalizedTo } = progress;
  const plan = planScan(progress.scannedTo, lines, chain.settings);
  // A node behind our last final block says nothing of what follows it.
  if (plan.tip < finalizedTo) return { state: "behind", head, finalizedTo, hasMore: false };
  const startedAtMs = performance.now();
  const toBlock = plan.kind === "fresh" ? plan.toBlock : plan.tip;
  const headers = await reader.readHeaders({ fromBlock: plan.tip, toBlock });
  const [tip] = headers;
  if (tip === undefined) return { state: "behind", head, finalizedTo, hasMore: false };
  const knownHash =
    plan.tip === progress.scannedTo
      ? progress.scannedHash
      : (await findBlock(pool, chain.id, plan.tip))?.hash;
  if (tip.hash !== knownHash) {
    await reorganize(watch, lead, { ...progress, tip: plan.tip });
    return { state: "catching_up", head, finalizedTo, hasMore: true };
  }
  // It comes before what follows: the order of payments decides which of them completes a link.
  const isMoreDue = await settleTransfers(watch, lead, {
    settle: Math.min(lines.settle, progress.scannedTo),
    final: finalizedTo,
  });
  if (isMoreDue) return { state: "catching_up", head, finalizedTo, hasMore: true };
  const reach = await scan(watch, lead, { plan, headers, lines, progress });
  const { scannedTo } = reach;
  const isMoving = scannedTo > progress.scannedTo;
  if (isMoving) metrics.scanned(chain.id, (performance.now() - startedAtMs) / 1000);
  await measure(watch, { progress, head, ...reach });
  const isBehind = scannedTo < lines.scan;
  return {
    state: isBehind ? "catching_up" : "watching",
    head,
    finalizedTo: reach.finalizedTo,
    hasMore: isBehind && isMoving,
  };
};

type Scan = { plan: ScanPlan; headers: readonly BlockHeader[]; lines: Lines; progress: Begun };
type Reach = { scannedTo: number; finalizedTo: number; scannedAt: Date | null };

/** Scans what the plan asks for, and commits it piece by piece; answers how far that came. */
const scan = async (
  watch: WatchContext,
  lead: Lead,
  { plan, headers, lines, progress }: Scan,
): Promise<Reach> => {
  let { scannedTo, finalizedTo } = progress;
  let scannedAt = progress.scannedMinedAt;
  const commitScanned = async (scanned: Scanned): Promise<void> => {
    const last = scanned.blocks.at(-1);
    const to = last?.number ?? scannedTo;
    const final = Math.max(finalizedTo, Math.min(lines.final, to));
    const isFinalMoved = final > finalizedTo;
    if (to === scannedTo && !isFinalMoved) return;
    await commit(watch, lead, { scanned, scannedTo: to, finalizedTo: final, isFinalMoved });
    scannedTo = to;
    finalizedTo = final;
    scannedAt = last?.minedAt ?? scannedAt;
  };
  await scanBlocks(watch, { plan, headers, lines }, commitScanned);
  // The final block moves on also where no block is new.
  await commitScanned({ blocks: [], transfers: [] });
  return { scannedTo, finalizedTo, scannedAt };
};

/** Commits what was found, and how far: together or not at all. */
const commit = async (
  { chain, clock, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  step: { scanned: Scanned; scannedTo: number; finalizedTo: number; isFinalMoved: boolean },
): Promise<void> => {
  const { finalizedTo, isFinalMoved, scanned, scannedTo } = step;
  const { blocks, transfers } = scanned;
  await transact(pool, async (tx) => {
    const now = clock.now();
    await lockLead(tx, lead);
    if (blocks.length > 0) await insertBlocks(tx, chain.id, blocks);
    await recordTransfers(tx, transfers, now);
    if (isFinalMoved) {
      await deleteBlocksBelow(tx, chain.id, finalizedTo);
      await finalizeTransfers(tx, chain.id, { toBlock: finalizedTo, now });
    }
    await saveCheckpoint(tx, chain.id, { scannedTo, finalizedTo });
  });
  if (transfers.length === 0) return;
  wakeRelay();
  const seen = transfers.filter(({ state }) => state === "seen").length;
  metrics.transferred(chain.id, "seen", seen);
  metrics.transferred(chain.id, "settled", transfers.length - seen);
};

const measure = async (
  { chain, clock, metrics, pool }: WatchContext,
  reach: Reach & { progress: Begun; head: number },
): Promise<void> => {
  const { finalizedTo, head, progress, scannedAt, scannedTo } = reach;
  const finalizedAt =
    finalizedTo === progress.finalizedTo
      ? progress.finalizedMinedAt
      : ((await findBlock(pool, chain.id, finalizedTo))?.minedAt ?? null);
  const nowMs = clock.now().getTime();
  const ageSeconds = (minedAt: Date | null): number =>
    minedAt === null ? 0 : Math.max(0, (nowMs - minedAt.getTime()) / 1000);
  metrics.measured(chain.id, {
    headLagBlocks: Math.max(0, head - scannedTo),
    headLagSeconds: ageSeconds(scannedAt),
    finalizedLagBlocks: Math.max(0, head - finalizedTo),
    finalizedLagSeconds: ageSeconds(finalizedAt),
  });
};
