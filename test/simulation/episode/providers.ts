import { finalDepth } from "../block.ts";
import { type ChainKind, base, bitcoin } from "../chain-kinds.ts";
import type { Manner, Provider } from "../node-view.ts";
import type { Random } from "../random.ts";
import { alterOpen } from "../shop/altering.ts";
import { forge } from "../shop/forging.ts";
import type { Shop } from "../shop/shop.ts";
import { mineMany } from "./blocks.ts";
import type { Mood } from "./mood.ts";

const troubles = ["lags", "stands still", "is silent", "refuses", "prunes"] as const;
const lies = [
  "omits logs",
  "omits receipts",
  "renames blocks",
  "invents",
  // It shows something only while payments wait.
  "alters",
  "alters",
] as const;

const providerCounts = [1, 2, 2, 3];
const habit: Manner = { kind: "omits logs", upTo: "blooms" };
const mannerMsMax = 40_000;
/** So far a node behind a shared address lags at most. */
const balancedBlocksMax = 12;
/** No program forgets what is not final. */
const keptBlocksMin = finalDepth + 1;

/** Who serves the chain's nodes, and how long they do so in their present manners. */
export type Providers = {
  all: readonly Provider[];
  /** The provider that is asked first leaves out logs for as long as the episode lasts. */
  hasHabit: boolean;
  isFirstLiar: boolean;
  untilMs: number;
};

export const drawProviders = (random: Random, kind: ChainKind): readonly Provider[] =>
  Array.from({ length: random.pick(providerCounts) }, (_, index): Provider => ({
    host: `rpc-${index + 1}.sim`,
    manner: { kind: "honest" },
    program: {
      isCore: kind === bitcoin && random.chance(0.6),
      replaces: kind !== bitcoin || random.chance(0.8),
    },
  }));

export const openProviders = (random: Random, all: readonly Provider[]): Providers => {
  const hasHabit = all.length > 1 && random.chance(0.35);
  return { all, hasHabit, isFirstLiar: hasHabit || random.chance(0.5), untilMs: 0 };
};

/**
 * Only one of an episode tells stories: of two nobody could know which to believe, also if one does
 * when a block is read and the other when it is audited. Others may be away meanwhile. Some manners
 * last until the blocks of their time are final.
 */
export const changeManners = (providers: Providers, shop: Shop, mood: Mood): void => {
  const { all, hasHabit, isFirstLiar } = providers;
  const { world } = shop;
  const { random } = world;
  for (const provider of all) provider.manner = { kind: "honest" };
  providers.untilMs = world.nowMs() + random.below(mannerMsMax);
  const [liar, ...others] = isFirstLiar ? all : all.toReversed();
  if (liar !== undefined && others.length > 0) {
    if (hasHabit) liar.manner = habit;
    else if (random.chance(mood.lies)) liar.manner = drawManner(shop, random.pick(lies));
    const isElsewhere = mood.rare.has("other chain") && random.chance(0.8);
    if (isElsewhere) liar.manner = { kind: "serves another chain" };
  }
  const areAllPruned = random.chance(mood.pruned);
  const unlying = others.length === 0 ? all : others;
  for (const provider of unlying) {
    if (areAllPruned) provider.manner = drawManner(shop, "prunes");
    else if (random.chance(0.3)) provider.manner = drawManner(shop, random.pick(troubles));
  }
  if (mood.rare.has("balanced nodes")) balance(unlying, random);
  const isAnyPruned = all.some(({ manner }) => manner.kind === "prunes");
  // Much comes at once, or the watch had stood still: nodes have forgotten what it has yet to read.
  if (isAnyPruned && random.chance(0.5)) {
    mineMany(shop, keptBlocksMin + random.below(keptBlocksMin * 3));
    world.count("many blocks at once for nodes that prune");
  }
  world.say(all.map(({ host, manner }) => `${host} ${manner.kind}`).join(", "));
};

/** Lets several nodes answer for some of the providers. */
const balance = (providers: readonly Provider[], random: Random): void => {
  for (const provider of providers) {
    const isHonest = provider.manner.kind === "honest" || provider.manner.kind === "lags";
    if (!isHonest || random.chance(0.4)) continue;
    const blocksMax = 1 + random.below(balancedBlocksMax);
    provider.manner = { kind: "balances", blocksMax, isByMethod: false };
  }
};

/** At each address, what asks for transactions reaches a node that lacks the newest final blocks. */
export const lagBehindFinal = ({ all }: Providers, random: Random): void => {
  for (const provider of all) {
    const blocksMax = balancedBlocksMax + random.below(balancedBlocksMax);
    provider.manner = { kind: "balances", blocksMax, isByMethod: true };
  }
};

/** Whoever shows payments as others does so with those that are made meanwhile. */
export const goOnLying = ({ all }: Providers, shop: Shop): void => {
  for (const { manner } of all) if (manner.kind === "alters") alterOpen(shop, manner.altered);
};

/** What one leaves out for good the others make good, where there are others. */
export const becomeHonest = ({ all, hasHabit }: Providers): void => {
  for (const [index, provider] of all.entries()) {
    provider.manner = hasHabit && index === 0 ? habit : { kind: "honest" };
  }
};

const drawManner = (shop: Shop, kind: (typeof lies | typeof troubles)[number]): Manner => {
  const { chain, world } = shop;
  const { random } = world;
  switch (kind) {
    case "lags":
      return { kind, blocks: 1 + random.below(4) };
    case "stands still":
      return { kind, tip: chain.tip() };
    case "refuses":
      return { kind, status: random.pick([429, 500, 403]) };
    case "renames blocks":
      return { kind, from: Math.max(0, chain.tip().number - random.below(10)) };
    case "invents": {
      const forged = forge(shop);
      if (forged === undefined) return { kind: "omits logs", upTo: "blooms" };
      // A transaction that waits can be invented, too, where nodes tell of them.
      const aboveTip = shop.kind === bitcoin ? random.below(8) : 0;
      const number = chain.tip().number + aboveTip - random.below(4);
      return { kind, forged: new Map([[number, forged]]) };
    }
    case "alters":
      return { kind, altered: new Map() };
    case "prunes":
      return {
        kind,
        keptBlocks: keptBlocksMin + random.below(8),
        older: drawOlder(random, shop.kind),
      };
    case "omits logs":
      return { kind, upTo: random.pick(["answers", "blooms", "receipts"]) };
    case "is silent":
    case "omits receipts":
      return { kind };
  }
};

/**
 * How a node that has pruned answers for what may pay links in older blocks: geth tells it or refuses, by what
 * was pruned, reth leaves it out, as java-tron and Agave do, and a block of Bitcoin is there or is not.
 */
const drawOlder = (random: Random, kind: ChainKind): (Manner & { kind: "prunes" })["older"] => {
  if (kind === base) return random.pick(["told", "refused", "left out"]);
  return kind === bitcoin ? "refused" : "left out";
};
