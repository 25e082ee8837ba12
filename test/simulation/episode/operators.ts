import { dumpSchema } from "../dumps.ts";
import { postgresSeam } from "../postgres-seam.ts";
import { migrations, serviceNames } from "../replica.ts";
import { command, republishAll } from "../shop/operators.ts";
import { mineBurst } from "./blocks.ts";
import type { Episode } from "./episode.ts";
import { killAll } from "./processes.ts";

/** The watch begins at the last final block at the start: a fork below that cannot be healed. */
const forkedFromMin = 20;

/** What operators do, and what makes them do it. */
export const operate = async (episode: Episode): Promise<void> => {
  const { blocks, mood, operators, world } = episode;
  const { random } = world;
  notice(episode);
  if (operators.dumped === undefined && random.chance(mood.dump)) await takeDump(episode);
  else if (operators.dumped !== undefined && random.chance(0.05)) await restoreDump(episode);
  // What links-api lost, and the order in which it had heard it, must not both be gone.
  const isOrderKept = operators.dumped?.name !== "links-api" && !operators.isRecovering;
  if (random.chance(mood.lostLog) && isOrderKept) loseLog(episode);
  if (random.chance(mood.deepFork)) forkDeep(episode);
  if (random.chance(mood.burst)) mineBurst(blocks);
  if (random.chance(0.5)) await resumeIfHalted(episode);
  if (random.chance(mood.operator)) rescanOrRepublish(episode);
};

/** The shop stays closed until what was restored has read again what it lacks. */
const notice = ({ bus, operators, shop }: Episode): void => {
  const isToldAgain = !shop.errands.some(({ what }) => what.includes("republish"));
  if (isToldAgain && bus.isRead()) operators.isRecovering = false;
};

const takeDump = async ({ admin, operators, shop, world }: Episode): Promise<void> => {
  const name = world.random.pick(serviceNames);
  const isTold = shop.errands.some(
    ({ service, what }) =>
      service === name && /^(?:order|deactivate|notice|deposits|assign|dismiss)/.test(what),
  );
  if (isTold || operators.isRecovering) return;
  operators.dumped = { name, dump: await dumpSchema(admin, migrations[name].schema) };
  world.say(`a dump of ${name}`);
};

const restoreDump = async (episode: Episode): Promise<void> => {
  const { model, operators, processes, shop, world } = episode;
  if (operators.dumped === undefined) return;
  const { dump, name } = operators.dumped;
  world.say(`a restore of ${name}`);
  world.count(`restore of ${name}`);
  await killAll(processes, name);
  await postgresSeam.cutLate();
  await dump.restore();
  model.restored(name);
  operators.dumped = undefined;
  operators.isRecovering ||= name === "links-api";
  republishAll(shop);
};

const loseLog = ({ bus, shop, world }: Episode): void => {
  world.say("the broker loses its log");
  world.count("the broker loses its log");
  bus.loseLog();
  republishAll(shop);
};

const forkDeep = ({ chain, operators, world }: Episode): void => {
  if (chain.tip().number <= forkedFromMin) return;
  const { slot } = chain.fork({ isDeep: true }).shared;
  operators.sharedBlock = Math.min(operators.sharedBlock ?? Infinity, slot);
  world.say(`a deep fork from ${slot}`);
  world.count("deep forks");
};

/** A watch that a deep fork has halted goes on from a block that every fork has left. */
export const resumeIfHalted = async ({
  admin,
  model,
  operators: { sharedBlock },
  shop,
}: Episode): Promise<void> => {
  if (sharedBlock === undefined) return;
  const { rows } = await admin.query(
    "SELECT FROM settlement_listener.watchers WHERE halted_reason IS NOT NULL",
  );
  if (rows.length === 0 || shop.errands.some(({ what }) => what === "resume")) return;
  model.deposits.resumed();
  command(shop, "settlement-listener", {
    what: "resume",
    path: "/internal/settlement/resume",
    body: { chainId: shop.kind.chainId, sharedBlock },
  });
};

const rescanOrRepublish = ({ chain, shop, world }: Episode): void => {
  const fromBlock = world.random.below(chain.tip().slot);
  const toBlock = fromBlock + world.random.below(10);
  if (world.random.chance(0.5)) rescan(shop, { fromBlock, toBlock });
  else republishAll(shop);
};

/** Has final blocks read once more. */
export const rescan = (
  shop: Episode["shop"],
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): void =>
  command(shop, "settlement-listener", {
    what: "rescan",
    path: "/internal/settlement/rescan",
    body: { chainId: shop.kind.chainId, fromBlock, toBlock },
  });
