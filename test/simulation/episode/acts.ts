import { finalDepth } from "../block.ts";
import { bitcoin, solana, tron } from "../chain-kinds.ts";
import { lookAtAllDeposits } from "../shop/owners.ts";
import { repeatSome } from "../shop/notices.ts";
import { registerAll } from "../shop/receivers.ts";
import { mineMany } from "./blocks.ts";
import { beCalm, isAtRest, isQuiet } from "./calm.ts";
import type { Episode } from "./episode.ts";
import { replicasOf, startAll } from "./processes.ts";
import { becomeHonest } from "./providers.ts";
import { holdResults, noteUnknownNonces } from "./results.ts";
import { beMild, beWild, changeProviders, lagForAWhile } from "./weather.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** So many blocks after its own, nothing is left on Solana of what was taken away. */
const livesForBlocks = 152;
/** So many of them are looked through further back, each time that a block is final. */
const lookedThroughBlocks = 20;

/** Wild for a while, then calm until all is quiet, and then all must be right. */
export const playAll = async (episode: Episode): Promise<void> => {
  const { model, shop, world } = episode;
  await begin(episode);
  await goWrong(episode);
  world.say("calm");
  await comeToRest(episode);
  await letFailuresShow(episode);
  lookAtAllDeposits(shop);
  await beCalm(episode, isAtRest);
  await holdResults(episode);
  world.count("orders", model.orders.length);
  world.count("payments", model.payments.length);
};

const begin = async (episode: Episode): Promise<void> => {
  const { processes, shop, world } = episode;
  startAll(processes);
  registerAll(shop);
  await world.quiet();
  await beCalm(episode, isQuiet);
  episode.hasBegun = true;
};

const goWrong = async (episode: Episode): Promise<void> => {
  const { bus, mood, providers, world } = episode;
  world.say("wild");
  bus.setLag(mood.lag);
  if (providers.hasHabit || mood.rare.size > 0) await changeProviders(episode);
  await beWild(episode);
};

const comeToRest = async (episode: Episode): Promise<void> => {
  const { bus, mood, providers, shop } = episode;
  bus.setAway(false);
  bus.setLag(0);
  if (shop.kind === bitcoin) await beMild(episode);
  bus.setDelay(undefined);
  if (mood.rare.has("repeated notices")) repeatSome(shop, Infinity);
  if (mood.rare.has("balanced nodes")) await lagForAWhile(episode);
  becomeHonest(providers);
  shop.isCalm = true;
  await beCalm(episode, isQuiet);
};

/** What its chain took away is told as failed only after a time, or many blocks. */
const letFailuresShow = async (episode: Episode): Promise<void> => {
  const { chain, model, shop, world } = episode;
  if (shop.kind === tron) {
    // What was taken away has expired a day after a block that held it.
    world.advance(dayMs);
    world.say("a day has passed");
    await mineOn(episode, 1);
  }
  if (shop.kind === solana) {
    await mineOn(episode, livesForBlocks);
    // What is final moves to the newest block that was kept, which was the tip.
    await mineOn(episode, 1);
  }
  if (shop.kind === bitcoin) {
    // Who spent an output long ago is looked for a few blocks further back at each final block, by each
    // process that leads meanwhile.
    const turnsOfOne = 2 + chain.tip().number / lookedThroughBlocks;
    const turnsMax = replicasOf["settlement-listener"] * turnsOfOne;
    await noteUnknownNonces(episode);
    for (let turn = 0; turn < turnsMax && model.lacksFailures(); turn += 1) {
      await mineOn(episode, 1);
      await noteUnknownNonces(episode);
    }
  }
};

const mineOn = async (episode: Episode, blockCount: number): Promise<void> => {
  mineMany(episode.blocks, blockCount + finalDepth);
  episode.blocks.lastMs = episode.world.nowMs();
  await beCalm(episode, isQuiet);
};
