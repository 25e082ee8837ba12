import type { Chain } from "../chain.ts";
import type { World } from "../world.ts";
import type { Mood } from "./mood.ts";

/** When blocks come. */
export type Blocks = {
  world: World;
  chain: Chain;
  mood: Pick<Mood, "blockMsMax" | "fork">;
  nextMs: number;
  lastMs: number;
};

/** So many that a watcher reads them in wide ranges, without their headers. */
const burstBlocks = 120;

export const openBlocks = (world: World, chain: Chain, mood: Mood): Blocks => ({
  world,
  chain,
  mood,
  nextMs: world.nowMs(),
  lastMs: world.nowMs(),
});

/** A block, or a fork, where it is time for one. */
export const mineDue = (blocks: Blocks): void => {
  const { chain, mood, world } = blocks;
  const { random } = world;
  if (world.nowMs() < blocks.nextMs) return;
  blocks.nextMs = world.nowMs() + 500 + random.below(mood.blockMsMax);
  blocks.lastMs = world.nowMs();
  if (random.chance(mood.fork)) {
    world.count("forks");
    const { depth } = chain.fork({ isDeep: false });
    world.say(`a fork of ${depth}, up to ${chain.tip().number}`);
  } else {
    chain.mine();
    world.say(`block ${chain.tip().number}`);
  }
};

/** A block at once, and no more forks. */
export const mineOneMore = (blocks: Blocks): void => {
  blocks.nextMs = Math.min(blocks.nextMs, blocks.world.nowMs());
  blocks.mood.fork = 0;
  mineDue(blocks);
};

export const mineBurst = ({ chain, world }: Blocks): void => {
  mineMany({ chain, world }, burstBlocks);
  world.count("many blocks at once");
};

export const mineMany = (
  { chain, world }: Pick<Blocks, "chain" | "world">,
  blockCount: number,
): void => {
  for (let mined = 0; mined < blockCount; mined += 1) chain.mine();
  world.say(`many blocks, up to ${chain.tip().number}`);
};
