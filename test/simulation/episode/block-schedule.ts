import type { Chain } from "../chain.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import type { FaultProfile } from "./fault-profile.ts";

/** The schedule of new blocks. */
export type BlockSchedule = {
  world: SimulatedWorld;
  chain: Chain;
  faultProfile: Pick<FaultProfile, "blockMsMax" | "forkChance">;
  nextBlockAtMs: number;
  lastBlockAtMs: number;
};

/** Enough blocks for a watcher to read them in wide ranges without their headers. */
const burstBlocks = 120;

export const createBlockSchedule = (
  world: SimulatedWorld,
  chain: Chain,
  faultProfile: FaultProfile,
): BlockSchedule => ({
  world,
  chain,
  faultProfile,
  nextBlockAtMs: world.nowMs(),
  lastBlockAtMs: world.nowMs(),
});

/** Mines a block, or forks the chain, when it is due. */
export const mineIfDue = (blockSchedule: BlockSchedule): void => {
  const { chain, faultProfile, world } = blockSchedule;
  const { random } = world;
  if (world.nowMs() < blockSchedule.nextBlockAtMs) return;
  blockSchedule.nextBlockAtMs = world.nowMs() + 500 + random.below(faultProfile.blockMsMax);
  blockSchedule.lastBlockAtMs = world.nowMs();
  if (random.chance(faultProfile.forkChance)) {
    world.count("forks");
    const { depth } = chain.forkChain({ isDeep: false });
    world.trace(`a fork of ${depth}, up to ${chain.tip().number}`);
  } else {
    chain.mineBlock();
    world.trace(`block ${chain.tip().number}`);
  }
};

/** Mines a block immediately, and disables forks. */
export const mineNextBlock = (blockSchedule: BlockSchedule): void => {
  blockSchedule.nextBlockAtMs = Math.min(blockSchedule.nextBlockAtMs, blockSchedule.world.nowMs());
  blockSchedule.faultProfile.forkChance = 0;
  mineIfDue(blockSchedule);
};

export const mineBurst = ({ chain, world }: BlockSchedule): void => {
  mineBlocks({ chain, world }, burstBlocks);
  world.count("many blocks together");
};

export const mineBlocks = (
  { chain, world }: Pick<BlockSchedule, "chain" | "world">,
  blockCount: number,
): void => {
  for (let minedCount = 0; minedCount < blockCount; minedCount += 1) chain.mineBlock();
  world.trace(`many blocks, up to ${chain.tip().number}`);
};
