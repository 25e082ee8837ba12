import { copySchema } from "../../rig/copy-schema.ts";
import { postgresSeam } from "../postgres-seam.ts";
import { migrations, serviceNames } from "../replica.ts";
import { sendCommand, republishAll } from "../shop/operator-commands.ts";
import { mineBurst } from "./block-schedule.ts";
import type { Episode } from "./episode.ts";
import { killService } from "./processes.ts";

/**
 * The watch starts at the block that is final at the start of the episode. It cannot recover from a
 * fork below that block.
 */
const forkHeightMin = 20;

/** Runs incidents and the operators' responses to them. */
export const runOperators = async (episode: Episode): Promise<void> => {
  const { blockSchedule, faultProfile, operatorState, world } = episode;
  const { random } = world;
  updateRecovery(episode);
  if (operatorState.storedDump === undefined && random.chance(faultProfile.dumpChance))
    await takeDump(episode);
  else if (operatorState.storedDump !== undefined && random.chance(0.05))
    await restoreDump(episode);
  // links-api recovers from the broker's log. Its data and this log must not be lost at the same
  // time.
  const canReplayOrder =
    operatorState.storedDump?.name !== "links-api" && !operatorState.isRecovering;
  if (random.chance(faultProfile.logLossChance) && canReplayOrder) loseBrokerLog(episode);
  if (random.chance(faultProfile.deepForkChance)) forkBelowFinality(episode);
  if (random.chance(faultProfile.blockBurstChance)) mineBurst(blockSchedule);
  if (random.chance(0.5)) await resumeIfHalted(episode);
  if (random.chance(faultProfile.operatorCommandChance)) rescanOrRepublishRandomly(episode);
};

/** Prevents new orders until the restored service has caught up. */
const updateRecovery = ({ bus, operatorState, shop }: Episode): void => {
  const isRepublished = !shop.pendingRequests.some(({ description }) =>
    description.includes("republish"),
  );
  if (isRepublished && bus.isFullyConsumed()) operatorState.isRecovering = false;
};

const takeDump = async ({ admin, operatorState, shop, world }: Episode): Promise<void> => {
  const name = world.random.pick(serviceNames);
  const hasUnsavedRequest = shop.pendingRequests.some(
    ({ service, description }) =>
      service === name && /^(?:order|deactivate|notice|deposits|assign|dismiss)/.test(description),
  );
  if (hasUnsavedRequest || operatorState.isRecovering) return;
  operatorState.storedDump = { name, dump: await copySchema(admin, migrations[name].schema) };
  world.trace(`a dump of ${name}`);
};

const restoreDump = async (episode: Episode): Promise<void> => {
  const { model, operatorState, processes, shop, world } = episode;
  if (operatorState.storedDump === undefined) return;
  const { dump, name } = operatorState.storedDump;
  world.trace(`a restore of ${name}`);
  world.count(`restore of ${name}`);
  await killService(processes, name);
  await postgresSeam.terminateLateCommits();
  await dump.restore();
  model.onServiceRestored(name);
  operatorState.storedDump = undefined;
  operatorState.isRecovering ||= name === "links-api";
  operatorState.mustRepublish ||= name === "settlement-listener";
  republishAll(shop);
};

const loseBrokerLog = ({ bus, shop, world }: Episode): void => {
  world.trace("the broker loses its log");
  world.count("the broker loses its log");
  bus.truncateLogs();
  republishAll(shop);
};

const forkBelowFinality = ({ chain, operatorState, world }: Episode): void => {
  if (chain.tip().number <= forkHeightMin) return;
  const { slot } = chain.forkChain({ isDeep: true }).forkPoint;
  operatorState.sharedBlock = Math.min(operatorState.sharedBlock ?? Infinity, slot);
  world.trace(`a deep fork from ${slot}`);
  world.count("deep forks");
};

/** Resumes a watch that a deep fork has halted, at a block that no fork has orphaned. */
export const resumeIfHalted = async ({
  admin,
  model,
  operatorState: { sharedBlock },
  shop,
}: Episode): Promise<void> => {
  if (sharedBlock === undefined) return;
  const { rows } = await admin.query(
    "SELECT FROM settlement_listener.watchers WHERE halted_reason IS NOT NULL",
  );
  if (rows.length === 0 || shop.pendingRequests.some(({ description }) => description === "resume"))
    return;
  model.deposits.onWatchResumed();
  sendCommand(shop, "settlement-listener", {
    description: "resume",
    path: "/internal/settlement/resume",
    body: { chainId: shop.kind.chainId, sharedBlock },
  });
};

const rescanOrRepublishRandomly = ({ chain, shop, world }: Episode): void => {
  const fromBlock = world.random.below(chain.tip().slot);
  const toBlock = fromBlock + world.random.below(10);
  if (world.random.chance(0.5)) rescan(shop, { fromBlock, toBlock });
  else republishAll(shop);
};

/** Requests a rescan of final blocks. */
export const rescan = (
  shop: Episode["shop"],
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): void =>
  sendCommand(shop, "settlement-listener", {
    description: "rescan",
    path: "/internal/settlement/rescan",
    body: { chainId: shop.kind.chainId, fromBlock, toBlock },
  });
