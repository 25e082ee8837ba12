import { topics } from "@payment-links/contracts";
import { bitcoin } from "../chain-kinds.ts";
import { servesOtherChain } from "../node-view.ts";
import { postgresSeam } from "../postgres-seam.ts";
import { payBeforeLink, replaceUnconfirmed } from "../shop/bitcoin-payers.ts";
import { sendDeposit } from "../shop/deposits.ts";
import { deactivateLink, placeOrder } from "../shop/orders.ts";
import { reportOnChainPayments } from "../shop/notices.ts";
import { reviewRandomAccountDeposits } from "../shop/review-deposits.ts";
import { payOrder } from "../shop/payments.ts";
import { mineIfDue } from "./block-schedule.ts";
import type { Episode } from "./episode.ts";
import { runOperators } from "./operators.ts";
import { killProcess, killService } from "./processes.ts";
import {
  resetBehaviors,
  changeBehaviors,
  updateAlteredPayments,
  lagBehindFinality,
} from "./provider-schedule.ts";
import { advanceToNextEvent, runNextStep } from "./run-next-step.ts";

const faultStepsMax = 4_000;
const mildPhaseStepsMax = 2_000;
const lastPaymentsMax = 4;
const detectionMs = 5_000;
const lagMs = 60_000;
const paymentsOfOrderMax = 4;
const depositsMax = 12;
const earlyTransfersMax = 8;
const linkDelayMsMin = 20_000;
const linkDelayMsMax = 180_000;

/** Runs the fault phase, in which every operation can fail. */
export const runWithFaults = async (episode: Episode): Promise<void> => {
  const { faultProfile, processes, world } = episode;
  episode.isInjectingFaults = true;
  const disturb = async () => {
    if (world.random.chance(faultProfile.disturbanceChance) && processes.replicas.length > 0)
      await injectDisturbance(episode);
  };
  await runSteps(episode, { ms: faultProfile.faultPhaseMs, stepsMax: faultStepsMax }, disturb);
  episode.isInjectingFaults = false;
};

/**
 * Lets Bitcoin payers continue with few other faults, so that nodes report their payments before
 * they are mined.
 */
export const runWithFewFaults = async (episode: Episode): Promise<void> => {
  const { faultProfile, shop, world } = episode;
  const { random } = world;
  const limits = { ms: faultProfile.faultPhaseMs, stepsMax: mildPhaseStepsMax };
  await runSteps(episode, limits, async () => {
    if (!random.chance(0.02)) return;
    await loadKnownOwnerAddresses(episode);
    const payableOrders = listPayableOrders(episode);
    if (payableOrders.length > 0 && random.chance(0.5)) {
      payOrder(shop, random.pick(payableOrders), { byNotice: false });
    } else replaceUnconfirmed(shop);
  });
};

/** Returns the orders whose links have a reference. */
const listPayableOrders = ({ model }: Episode) =>
  model.orders.filter(({ reference }) => reference !== undefined);

/** Waits until payments are detected, and then makes nodes lag when the payments become final. */
export const runWithLaggingNodes = async (episode: Episode): Promise<void> => {
  const { providerSchedule, shop, world } = episode;
  resetBehaviors(providerSchedule);
  const payableOrders = listPayableOrders(episode);
  for (let count = 0; count < lastPaymentsMax && payableOrders.length > 0; count += 1) {
    payOrder(shop, world.random.pick(payableOrders), { byNotice: false });
  }
  await runSteps(episode, { ms: detectionMs, stepsMax: mildPhaseStepsMax });
  lagBehindFinality(providerSchedule, world.random);
  await runSteps(episode, { ms: lagMs, stepsMax: mildPhaseStepsMax });
};

/** Runs steps and mines blocks. The only faults are those of `onStep`. */
const runSteps = async (
  episode: Episode,
  { ms, stepsMax }: { ms: number; stepsMax: number },
  onStep: () => Promise<void> = () => Promise.resolve(),
): Promise<void> => {
  const { blockSchedule, world } = episode;
  const deadlineMs = world.nowMs() + ms;
  for (let stepCount = 0; stepCount < stepsMax && world.nowMs() < deadlineMs; stepCount += 1) {
    mineIfDue(blockSchedule);
    await onStep();
    if (!(await runNextStep(episode))) advanceToNextEvent(episode, 1_000);
  }
};

const injectDisturbance = async (episode: Episode): Promise<void> => {
  const { model, faultProfile, operatorState, providerSchedule, shop, world } = episode;
  const { random } = world;
  // Otherwise, actions that are not repeated would be lost between a dump and its restore.
  const canPlaceOrders =
    operatorState.storedDump?.name !== "links-api" && !operatorState.isRecovering;
  const byNotice = operatorState.storedDump?.name !== "settlement-listener";
  if (shop.kind === bitcoin) await loadKnownOwnerAddresses(episode);
  if (hasLateLinks(episode)) await loadKnownTransactionHashes(episode);
  runShoppers(episode, { canPlaceOrders, byNotice });
  if (byNotice && faultProfile.rareTroubles.has("repeated notices") && random.chance(0.3))
    reportOnChainPayments(shop, 2);
  await runDeposits(episode, canPlaceOrders);
  if (hasLateLinks(episode)) {
    if (random.chance(0.1)) delayLinkEvents(episode);
    if (model.earlyTransfers.length < earlyTransfersMax && random.chance(0.3)) payBeforeLink(shop);
  }
  await runOperators(episode);
  await injectProcessFaults(episode);
  if (
    random.chance(faultProfile.providerChangeChance) &&
    world.nowMs() >= providerSchedule.behaviorUntilMs
  ) {
    await changeProviderBehaviors(episode);
  }
  updateAlteredPayments(providerSchedule, shop);
  if (random.chance(faultProfile.timeJumpChance) && !postgresSeam.hasLateCommit()) {
    const byMs = random.below(random.chance(0.2) ? 12_000 : 1_500);
    world.trace(`time passes: ${byMs}`);
    world.advance(byMs);
  }
  await world.waitUntilIdle();
};

/**
 * Changes the providers' behavior. Sometimes restarts the listeners while a provider serves another
 * chain. The listeners must detect this.
 */
export const changeProviderBehaviors = async (episode: Episode): Promise<void> => {
  const { faultProfile, processes, providerSchedule, shop, world } = episode;
  changeBehaviors(providerSchedule, shop, faultProfile);
  if (!providerSchedule.providers.some(servesOtherChain) || world.random.chance(0.5)) return;
  await killService(processes, "settlement-listener");
};

const hasLateLinks = ({ faultProfile, shop }: Episode): boolean =>
  faultProfile.rareTroubles.has("late links") && shop.kind === bitcoin;

/**
 * Loads the transactions that the listener stored before the current millisecond. Of a transfer and
 * a link in the same millisecond, neither is known to be older.
 */
const loadKnownTransactionHashes = async ({ admin, shop }: Episode): Promise<void> => {
  const { rows } = await admin.query<{ hash: string }>(
    "SELECT transaction_hash AS hash FROM settlement_listener.chain_transfers WHERE seen_at < $1",
    [shop.world.now()],
  );
  shop.knownTransactionHashes = new Set(rows.map(({ hash }) => hash));
};

const loadKnownOwnerAddresses = async ({ admin, shop }: Episode): Promise<void> => {
  const { rows } = await admin.query<{ address: string }>(
    "SELECT address FROM settlement_listener.owner_addresses ORDER BY 1",
  );
  for (const { address } of rows) shop.knownOwnerAddresses.add(address);
};

/** Starts or stops delaying links for the listener. */
const delayLinkEvents = ({ bus, world }: Episode): void => {
  const { random } = world;
  if (random.chance(0.3)) return bus.setDelay(undefined);
  const ms = linkDelayMsMin + random.below(linkDelayMsMax - linkDelayMsMin);
  bus.setDelay({ group: "settlement-listener", topic: topics.paymentLinks, ms });
  world.trace(`links are delayed by ${ms}`);
  world.count("late links");
};

const runShoppers = (
  { model, faultProfile, shop, world: { random } }: Episode,
  { byNotice, canPlaceOrders }: { canPlaceOrders: boolean; byNotice: boolean },
): void => {
  const linkedOrders = model.orders.filter(({ linkId }) => linkId !== undefined);
  if (random.chance(faultProfile.replacementChance)) replaceUnconfirmed(shop);
  if (canPlaceOrders && model.orders.length < faultProfile.ordersMax && random.chance(0.2))
    placeOrder(shop);
  const paymentsMax = faultProfile.ordersMax * paymentsOfOrderMax;
  if (linkedOrders.length > 0 && model.payments.length < paymentsMax && random.chance(0.4)) {
    payOrder(shop, random.pick(linkedOrders), { byNotice });
  }
  if (canPlaceOrders && linkedOrders.length > 0 && random.chance(faultProfile.deactivationChance)) {
    const order = random.pick(linkedOrders);
    if (!order.isDeactivationRequested) deactivateLink(shop, order);
  }
};

const runDeposits = async (episode: Episode, canDecide: boolean): Promise<void> => {
  const { model, faultProfile, shop, world } = episode;
  const { all } = model.deposits;
  if (all.length < depositsMax && world.random.chance(faultProfile.depositChance)) {
    await loadKnownOwnerAddresses(episode);
    sendDeposit(shop);
  }
  if (canDecide && all.length > 0 && world.random.chance(faultProfile.depositChance))
    reviewRandomAccountDeposits(shop);
};

const injectProcessFaults = async ({
  bus,
  faultProfile,
  processes,
  world,
}: Episode): Promise<void> => {
  const { random } = world;
  if (random.chance(faultProfile.rebalanceChance)) {
    world.trace("rebalance");
    world.count("rebalance");
    bus.rebalanceRandomGroup();
  }
  if (random.chance(bus.isBrokerDown() ? 0.2 : faultProfile.brokerOutageChance)) {
    bus.setBrokerDown(!bus.isBrokerDown());
    world.trace(`the broker is down: ${bus.isBrokerDown()}`);
    world.count("the broker stops or starts");
  }
  // After a restore, it is possible that no process is running.
  if (random.chance(faultProfile.killChance) && processes.replicas.length > 0) {
    const replica = random.pick(processes.replicas);
    world.trace(`kill ${replica.simProcess.name}`);
    await killProcess(processes, replica.simProcess);
  }
};
