import { topics } from "@payment-links/contracts";
import { bitcoin } from "../chain-kinds.ts";
import { isOtherChain } from "../node-view.ts";
import { postgresSeam } from "../postgres-seam.ts";
import { payAhead, replace } from "../shop/bitcoin-payers.ts";
import { sendDeposit } from "../shop/deposits.ts";
import { deactivate, placeOrder } from "../shop/orders.ts";
import { repeatSome } from "../shop/notices.ts";
import { lookAtSomeDeposits } from "../shop/owners.ts";
import { pay } from "../shop/payments.ts";
import { mineDue } from "./blocks.ts";
import type { Episode } from "./episode.ts";
import { operate } from "./operators.ts";
import { kill, killAll } from "./processes.ts";
import { becomeHonest, changeManners, goOnLying, lagBehindFinal } from "./providers.ts";
import { flyTo, happen } from "./steps.ts";

const wildStepsMax = 4_000;
const mildStepsMax = 2_000;
const lastPaymentsMax = 4;
const seenMs = 5_000;
const lagMs = 60_000;
const paymentsOfOrderMax = 4;
const depositsMax = 12;
const earlyMax = 8;
const linkDelayMsMin = 20_000;
const linkDelayMsMax = 180_000;

/** A while in which all goes on, and everything fails at times. */
export const beWild = async (episode: Episode): Promise<void> => {
  const { blocks, mood, processes, world } = episode;
  episode.isWild = true;
  const until = world.nowMs() + mood.wildMs;
  for (let turn = 0; turn < wildStepsMax && world.nowMs() < until; turn += 1) {
    mineDue(blocks);
    if (world.random.chance(mood.disturbance) && processes.replicas.length > 0) {
      await disturb(episode);
    }
    if (!(await happen(episode))) flyTo(episode, 1_000);
  }
  episode.isWild = false;
};

/** Payers of Bitcoin go on while little else goes wrong: what they send is seen before it is mined. */
export const beMild = async (episode: Episode): Promise<void> => {
  const { mood, shop, world } = episode;
  const { random } = world;
  await goOn(episode, mood.wildMs, async () => {
    if (!random.chance(0.02)) return;
    await askWhoIsHeardOf(episode);
    const linked = listLinked(episode);
    if (linked.length > 0 && random.chance(0.5)) {
      pay(shop, random.pick(linked), { byNotice: false });
    } else replace(shop);
  });
};

/** The orders whose links have their reference by now. */
const listLinked = ({ model }: Episode) =>
  model.orders.filter(({ reference }) => reference !== undefined);

/** Payments are seen, and by the time they become final, nodes that lag are asked for them. */
export const lagForAWhile = async (episode: Episode): Promise<void> => {
  const { providers, shop, world } = episode;
  becomeHonest(providers);
  const linked = listLinked(episode);
  for (let count = 0; count < lastPaymentsMax && linked.length > 0; count += 1) {
    pay(shop, world.random.pick(linked), { byNotice: false });
  }
  await goOn(episode, seenMs);
  lagBehindFinal(providers, world.random);
  await goOn(episode, lagMs);
};

/** Blocks are mined, and nothing is new but what `act` does in each step. */
const goOn = async (
  episode: Episode,
  ms: number,
  act: () => Promise<void> = () => Promise.resolve(),
): Promise<void> => {
  const { blocks, world } = episode;
  const until = world.nowMs() + ms;
  for (let turn = 0; turn < mildStepsMax && world.nowMs() < until; turn += 1) {
    mineDue(blocks);
    await act();
    if (!(await happen(episode))) flyTo(episode, 1_000);
  }
};

const disturb = async (episode: Episode): Promise<void> => {
  const { model, mood, operators, providers, shop, world } = episode;
  const { random } = world;
  // What nobody tells a second time would be lost with the time between a dump and its restore.
  const mayOrder = operators.dumped?.name !== "links-api" && !operators.isRecovering;
  const byNotice = operators.dumped?.name !== "settlement-listener";
  if (shop.kind === bitcoin) await askWhoIsHeardOf(episode);
  if (hasLateLinks(episode)) await askWhatIsKnown(episode);
  buy(episode, { mayOrder, byNotice });
  if (byNotice && mood.rare.has("repeated notices") && random.chance(0.3)) repeatSome(shop, 2);
  await moveDeposits(episode, mayOrder);
  if (hasLateLinks(episode)) {
    if (random.chance(0.1)) delayLinks(episode);
    if (model.early.length < earlyMax && random.chance(0.3)) payAhead(shop);
  }
  await operate(episode);
  await disturbProcesses(episode);
  if (random.chance(mood.provider) && world.nowMs() >= providers.untilMs) {
    await changeProviders(episode);
  }
  goOnLying(providers, shop);
  if (random.chance(mood.flight) && !postgresSeam.isLate()) {
    const byMs = random.below(random.chance(0.2) ? 12_000 : 1_500);
    world.say(`time passes: ${byMs}`);
    world.advance(byMs);
  }
  await world.quiet();
};

/** Listeners may start while a provider serves another chain, and must tell it from the others. */
export const changeProviders = async (episode: Episode): Promise<void> => {
  const { mood, processes, providers, shop, world } = episode;
  changeManners(providers, shop, mood);
  if (!providers.all.some(isOtherChain) || world.random.chance(0.5)) return;
  await killAll(processes, "settlement-listener");
};

const hasLateLinks = ({ mood, shop }: Episode): boolean =>
  mood.rare.has("late links") && shop.kind === bitcoin;

const askWhatIsKnown = async ({ admin, shop }: Episode): Promise<void> => {
  const { rows } = await admin.query<{ hash: string }>(
    "SELECT transaction_hash AS hash FROM settlement_listener.chain_transfers",
  );
  shop.knownHashes = new Set(rows.map(({ hash }) => hash));
};

const askWhoIsHeardOf = async ({ admin, shop }: Episode): Promise<void> => {
  const { rows } = await admin.query<{ address: string }>(
    "SELECT address FROM settlement_listener.owner_addresses ORDER BY 1",
  );
  for (const { address } of rows) shop.heardOwners.add(address);
};

/** From now on the listener receives links late, or in time again. */
const delayLinks = ({ bus, world }: Episode): void => {
  const { random } = world;
  if (random.chance(0.3)) return bus.setDelay(undefined);
  const ms = linkDelayMsMin + random.below(linkDelayMsMax - linkDelayMsMin);
  bus.setDelay({ group: "settlement-listener", topic: topics.paymentLinks, ms });
  world.say(`links come late: ${ms}`);
  world.count("late links");
};

const buy = (
  { model, mood, shop, world: { random } }: Episode,
  { byNotice, mayOrder }: { mayOrder: boolean; byNotice: boolean },
): void => {
  const linked = model.orders.filter(({ linkId }) => linkId !== undefined);
  if (random.chance(mood.replacements)) replace(shop);
  if (mayOrder && model.orders.length < mood.orders && random.chance(0.2)) placeOrder(shop);
  const paymentsMax = mood.orders * paymentsOfOrderMax;
  if (linked.length > 0 && model.payments.length < paymentsMax && random.chance(0.4)) {
    pay(shop, random.pick(linked), { byNotice });
  }
  if (mayOrder && linked.length > 0 && random.chance(mood.deactivation)) {
    const order = random.pick(linked);
    if (!order.isDeactivationAsked) deactivate(shop, order);
  }
};

const moveDeposits = async (episode: Episode, mayDecide: boolean): Promise<void> => {
  const { model, mood, shop, world } = episode;
  const { all } = model.deposits;
  if (all.length < depositsMax && world.random.chance(mood.deposits)) {
    await askWhoIsHeardOf(episode);
    sendDeposit(shop);
  }
  if (mayDecide && all.length > 0 && world.random.chance(mood.deposits)) lookAtSomeDeposits(shop);
};

const disturbProcesses = async ({ bus, mood, processes, world }: Episode): Promise<void> => {
  const { random } = world;
  if (random.chance(mood.rebalance)) {
    world.say("rebalance");
    world.count("rebalance");
    bus.rebalanceAny();
  }
  if (random.chance(bus.isAway() ? 0.2 : mood.away)) {
    bus.setAway(!bus.isAway());
    world.say(`the broker is away: ${bus.isAway()}`);
    world.count("the broker goes or comes");
  }
  // All may be down after a restore.
  if (random.chance(mood.kill) && processes.replicas.length > 0) {
    const replica = random.pick(processes.replicas);
    world.say(`kill ${replica.owner.name}`);
    await kill(processes, replica.owner);
  }
};
