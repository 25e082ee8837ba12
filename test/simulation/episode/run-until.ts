import type { Client } from "pg";
import { Finding } from "../finding.ts";
import { mineNextBlock } from "./block-schedule.ts";
import type { Episode } from "./episode.ts";
import { resumeIfHalted } from "./operators.ts";
import { advanceToNextEvent, runNextStep } from "./run-next-step.ts";

/** Each node request leaves a timer, and each timer is a step. Bitcoin needs many requests. */
const settleStepsMax = 300_000;
/** Ten times the longest recovery. Detects a watch that does not make progress. */
const settleMsMax = 20 * 60_000;
/** Longer than any pause of the watcher. */
export const idleMs = 60_000;

type DoneCheck = (episode: Episode) => Promise<boolean>;

/** Runs steps without new faults until the check passes. */
export const runUntil = async (episode: Episode, isDone: DoneCheck): Promise<void> => {
  const { admin, bus, chain, shop, world } = episode;
  const deadlineMs = world.nowMs() + settleMsMax;
  for (
    let stepCount = 0;
    stepCount < settleStepsMax && world.nowMs() < deadlineMs;
    stepCount += 1
  ) {
    if (await runNextStep(episode)) continue;
    if (await isDone(episode)) return;
    advanceToNextEvent(episode, 12_000);
  }
  const pendingRequests = shop.pendingRequests.map(({ description }) => description).join();
  const remainingWork = `requests ${pendingRequests}, rows ${await countRemainingRows(admin, chain.tip().slot)}, all records consumed: ${bus.isFullyConsumed()}`;
  throw new Finding(`the work does not finish: ${remainingWork}`);
};

/** Passes when no work is left and all sent transactions are final on the chain. */
export const isChainAndWorkDone: DoneCheck = async (episode) => {
  await resumeIfHalted(episode);
  return (await isChainFinal(episode)) && (await isWorkDone(episode));
};

const isChainFinal = async ({
  admin,
  blockSchedule,
  chain,
  hasStarted,
  world,
}: Episode): Promise<boolean> => {
  if (!hasStarted) return true;
  const isDone = chain.isFinalized() && !(await isRescanPending(admin));
  if (!isDone) mineNextBlock(blockSchedule);
  return isDone && world.nowMs() - blockSchedule.lastBlockAtMs > idleMs;
};

/** A rescan reads only final blocks. The requested block can have been the tip. */
const isRescanPending = async (admin: Client): Promise<boolean> => {
  const { rows } = await admin.query(`
    SELECT FROM settlement_listener.rescans JOIN settlement_listener.watchers USING (chain_id)
    WHERE next_block > finalized_to
  `);
  return rows.length > 0;
};

/** Passes when no work is left and the watch has scanned all blocks. */
export const isWorkDone: DoneCheck = async ({ admin, bus, chain, processes, shop }) =>
  shop.pendingRequests.length === 0 &&
  processes.restarts.length === 0 &&
  processes.replicas.every(({ app }) => app !== undefined) &&
  bus.isFullyConsumed() &&
  (await countRemainingRows(admin, chain.tip().slot)) === 0;

export const createTimePassedCheck = ({ world }: Episode, ms: number): DoneCheck => {
  const untilMs = world.nowMs() + ms;
  return async (episode) => world.nowMs() > untilMs && isWorkDone(episode);
};

/** Counts the rows that represent unfinished work. */
const countRemainingRows = async (admin: Client, tip: number): Promise<number> => {
  const { rows } = await admin.query<{ count: string }>(
    `
    SELECT (SELECT count(*) FROM links_api.outbox)
      + (SELECT count(*) FROM settlement_listener.outbox)
      + (SELECT count(*) FROM webhook_dispatcher.outbox)
      + (SELECT count(*) FROM webhook_dispatcher.deliveries)
      + (SELECT count(*) FROM settlement_listener.rescans)
      + (SELECT 1 - count(*) FROM settlement_listener.watchers
         WHERE scanned_to >= $1 AND halted_reason IS NULL)
      AS count
  `,
    [tip],
  );
  return Number(rows[0]?.count);
};
