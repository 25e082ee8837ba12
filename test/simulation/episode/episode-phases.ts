import { finalDepth } from "../block.ts";
import { bitcoin, solana, tron } from "../chain-kinds.ts";
import { republishAll } from "../shop/operator-commands.ts";
import { reviewAllDeposits } from "../shop/review-deposits.ts";
import { reportOnChainPayments } from "../shop/notices.ts";
import { registerReceivers } from "../shop/webhook-receivers.ts";
import { mineBlocks } from "./block-schedule.ts";
import { runUntil, isWorkDone, isChainAndWorkDone } from "./run-until.ts";
import type { Episode } from "./episode.ts";
import { replicaCounts, startAll } from "./processes.ts";
import { resetBehaviors } from "./provider-schedule.ts";
import { assertResults, noteUnknownNonces } from "./assert-results.ts";
import {
  runWithFewFaults,
  runWithFaults,
  changeProviderBehaviors,
  runWithLaggingNodes,
} from "./run-with-faults.ts";

const dayMs = 24 * 60 * 60 * 1000;
/**
 * States that a restored service publishes later than this replace the lost states (rule EVENT-7).
 */
const republishDelayMs = 61_000;
/** After this many blocks, an orphaned Solana transaction cannot reappear. */
const solanaExpiryBlocks = 152;
/** The number of blocks that the backward scan covers with each final block. */
const backwardScanBlocks = 20;

/**
 * Runs an episode. First, faults occur. Then the system recovers until all work is done. Finally,
 * all assertions run.
 */
export const runEpisodePhases = async (episode: Episode): Promise<void> => {
  const { model, shop, world } = episode;
  await runStartPhase(episode);
  await runFaultPhase(episode);
  world.trace("recovery phase");
  await runRecoveryPhase(episode);
  await runFailureDetectionPhase(episode);
  await republishAfterRestore(episode);
  reviewAllDeposits(shop);
  await runUntil(episode, isWorkDone);
  await assertResults(episode);
  world.count("orders", model.orders.length);
  world.count("payments", model.payments.length);
};

const runStartPhase = async (episode: Episode): Promise<void> => {
  const { processes, shop, world } = episode;
  startAll(processes);
  registerReceivers(shop);
  await world.waitUntilIdle();
  await runUntil(episode, isChainAndWorkDone);
  episode.hasStarted = true;
};

const runFaultPhase = async (episode: Episode): Promise<void> => {
  const { bus, faultProfile, providerSchedule, world } = episode;
  world.trace("fault phase");
  bus.setLag(faultProfile.lagMsMax);
  if (providerSchedule.hasPermanentBehavior || faultProfile.rareTroubles.size > 0)
    await changeProviderBehaviors(episode);
  await runWithFaults(episode);
};

const runRecoveryPhase = async (episode: Episode): Promise<void> => {
  const { bus, faultProfile, providerSchedule, shop } = episode;
  bus.setBrokerDown(false);
  bus.setLag(0);
  if (shop.kind === bitcoin) await runWithFewFaults(episode);
  bus.setDelay(undefined);
  if (faultProfile.rareTroubles.has("repeated notices")) reportOnChainPayments(shop, Infinity);
  if (faultProfile.rareTroubles.has("balanced nodes")) await runWithLaggingNodes(episode);
  resetBehaviors(providerSchedule);
  shop.areReceiversReliable = true;
  await runUntil(episode, isChainAndWorkDone);
};

/**
 * Republishes more than one minute after the last lost change, as an operator does after a restore.
 */
const republishAfterRestore = async (episode: Episode): Promise<void> => {
  const { operatorState, shop, world } = episode;
  if (!operatorState.mustRepublish) return;
  world.advance(republishDelayMs);
  republishAll(shop);
  await runUntil(episode, isChainAndWorkDone);
};

/** Orphaned transactions are reported as failed only after some time or after many blocks. */
const runFailureDetectionPhase = async (episode: Episode): Promise<void> => {
  const { chain, model, shop, world } = episode;
  if (shop.kind === tron) {
    // An orphaned Tron transaction has expired one day after a block that contained it.
    world.advance(dayMs);
    world.trace("a day has passed");
    await mineAndSettle(episode, 1);
  }
  if (shop.kind === solana) {
    await mineAndSettle(episode, solanaExpiryBlocks);
    // The final block moves to the newest block that was not orphaned, which was the tip.
    await mineAndSettle(episode, 1);
  }
  if (shop.kind === bitcoin) {
    // With each final block, the listener searches for old double spends a few blocks further back.
    // A process that becomes the leader starts this search again.
    const roundsPerProcess = 2 + chain.tip().number / backwardScanBlocks;
    const roundsMax = replicaCounts["settlement-listener"] * roundsPerProcess;
    await noteUnknownNonces(episode);
    for (let round = 0; round < roundsMax && model.hasMissingFailures(); round += 1) {
      await mineAndSettle(episode, 1);
      await noteUnknownNonces(episode);
    }
  }
};

const mineAndSettle = async (episode: Episode, blockCount: number): Promise<void> => {
  mineBlocks(episode.blockSchedule, blockCount + finalDepth);
  episode.blockSchedule.lastBlockAtMs = episode.world.nowMs();
  await runUntil(episode, isChainAndWorkDone);
};
