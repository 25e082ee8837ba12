import type { Client } from "pg";
import { Finding } from "../finding.ts";
import { mineOneMore } from "./blocks.ts";
import type { Episode } from "./episode.ts";
import { resumeIfHalted } from "./operators.ts";
import { flyTo, happen } from "./steps.ts";

/** Each request to a node leaves a timer behind, and each timer is a step: on Bitcoin these are many. */
const calmStepsMax = 300_000;
/** Ten times what the longest calm takes; a watch that stands still is found by it. */
const calmMsMax = 20 * 60_000;
/** Longer than any pause of the watcher's. */
export const restMs = 60_000;

type IsDone = (episode: Episode) => Promise<boolean>;

/** Lets all go on, with nothing new that fails, until it is done. */
export const beCalm = async (episode: Episode, isDone: IsDone): Promise<void> => {
  const { admin, bus, chain, shop, world } = episode;
  const until = world.nowMs() + calmMsMax;
  for (let turn = 0; turn < calmStepsMax && world.nowMs() < until; turn += 1) {
    if (await happen(episode)) continue;
    if (await isDone(episode)) return;
    flyTo(episode, 12_000);
  }
  const errands = shop.errands.map(({ what }) => what).join();
  const left = `errands ${errands}, rows ${await countLeft(admin, chain.tip().slot)}, all is read ${bus.isRead()}`;
  throw new Finding(`it does not come to rest: ${left}`);
};

/** Whether nothing is left to do, and the chain has given its last word on all that was sent. */
export const isQuiet: IsDone = async (episode) => {
  await resumeIfHalted(episode);
  return (await isChainRested(episode)) && (await isAtRest(episode));
};

const isChainRested = async ({
  admin,
  blocks,
  chain,
  hasBegun,
  world,
}: Episode): Promise<boolean> => {
  if (!hasBegun) return true;
  const isDone = chain.isSettled() && !(await isRescanWaiting(admin));
  if (!isDone) mineOneMore(blocks);
  return isDone && world.nowMs() - blocks.lastMs > restMs;
};

/** A rescan reads final blocks only, and what it was asked to read may have been the tip. */
const isRescanWaiting = async (admin: Client): Promise<boolean> => {
  const { rows } = await admin.query(`
    SELECT FROM settlement_listener.rescans JOIN settlement_listener.watchers USING (chain_id)
    WHERE next_block > finalized_to
  `);
  return rows.length > 0;
};

/** Whether nothing is left to do, and the watch has read all blocks. */
export const isAtRest: IsDone = async ({ admin, bus, chain, processes, shop }) =>
  shop.errands.length === 0 &&
  processes.restarts.length === 0 &&
  processes.replicas.every(({ app }) => app !== undefined) &&
  bus.isRead() &&
  (await countLeft(admin, chain.tip().slot)) === 0;

export const hasPassed = ({ world }: Episode, ms: number): IsDone => {
  const untilMs = world.nowMs() + ms;
  return async (episode) => world.nowMs() > untilMs && isAtRest(episode);
};

/** Rows of work that is yet to be done. */
const countLeft = async (admin: Client, tip: number): Promise<number> => {
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
