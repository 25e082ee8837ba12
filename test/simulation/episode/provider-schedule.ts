import { finalDepth } from "../block.ts";
import { type ChainKind, base, bitcoin } from "../chain-kinds.ts";
import type { NodeBehavior, Provider } from "../node-view.ts";
import type { Random } from "../random.ts";
import { alterUnsettledPayments } from "../shop/alter-payments.ts";
import { forgeTransaction } from "../shop/forge-transaction.ts";
import type { Shop } from "../shop/shop.ts";
import { mineBlocks } from "./block-schedule.ts";
import type { FaultProfile } from "./fault-profile.ts";

const outages = ["lags", "stands still", "is silent", "rejects", "prunes"] as const;
const misreports = [
  "omits logs",
  "omits receipts",
  "renames blocks",
  "invents",
  // This is twice as likely, because it has an effect only while payments are pending.
  "alters",
  "alters",
] as const;

const providerCounts = [1, 2, 2, 3];
const permanentBehavior: NodeBehavior = { kind: "omits logs", omittedFrom: "blooms" };
const behaviorMsMax = 40_000;
/** The maximum lag in blocks of a node that shares an address with other nodes. */
const balancedBlocksMax = 12;
/** No node software prunes blocks that are not final. */
const retainedBlocksMin = finalDepth + 1;

/** The providers of the chain's nodes, and the duration of their current behavior. */
export type ProviderSchedule = {
  providers: readonly Provider[];
  /** The first provider omits logs during the whole episode. */
  hasPermanentBehavior: boolean;
  isFirstMisreporting: boolean;
  behaviorUntilMs: number;
};

export const generateProviders = (random: Random, kind: ChainKind): readonly Provider[] =>
  Array.from({ length: random.pick(providerCounts) }, (_, index): Provider => ({
    host: `rpc-${index + 1}.sim`,
    behavior: { kind: "honest" },
    nodeProgram: {
      isCore: kind === bitcoin && random.chance(0.6),
      acceptsReplacement: kind !== bitcoin || random.chance(0.8),
    },
  }));

export const createProviderSchedule = (
  random: Random,
  providers: readonly Provider[],
): ProviderSchedule => {
  const hasPermanentBehavior = providers.length > 1 && random.chance(0.35);
  return {
    providers,
    hasPermanentBehavior,
    isFirstMisreporting: hasPermanentBehavior || random.chance(0.5),
    behaviorUntilMs: 0,
  };
};

/**
 * Changes the providers' behavior. Only one provider per episode misreports. With two of them, a
 * quorum could not find the truth, even if one misreports in the scan and the other in the audit.
 * Other providers can be unavailable at the same time. Some behaviors last until the blocks that
 * were mined during them are final.
 */
export const changeBehaviors = (
  providerSchedule: ProviderSchedule,
  shop: Shop,
  faultProfile: FaultProfile,
): void => {
  const { providers, hasPermanentBehavior, isFirstMisreporting } = providerSchedule;
  const { world } = shop;
  const { random } = world;
  for (const provider of providers) provider.behavior = { kind: "honest" };
  providerSchedule.behaviorUntilMs = world.nowMs() + random.below(behaviorMsMax);
  const [misreportingProvider, ...otherProviders] = isFirstMisreporting
    ? providers
    : providers.toReversed();
  if (misreportingProvider !== undefined && otherProviders.length > 0) {
    if (hasPermanentBehavior) misreportingProvider.behavior = permanentBehavior;
    else if (random.chance(faultProfile.misreportChance))
      misreportingProvider.behavior = generateBehavior(shop, random.pick(misreports));
    const servesOtherChain = faultProfile.rareTroubles.has("other chain") && random.chance(0.8);
    if (servesOtherChain) misreportingProvider.behavior = { kind: "serves another chain" };
  }
  const areAllPruned = random.chance(faultProfile.prunedNodesChance);
  const honestProviders = otherProviders.length === 0 ? providers : otherProviders;
  for (const provider of honestProviders) {
    if (areAllPruned) provider.behavior = generateBehavior(shop, "prunes");
    else if (random.chance(0.3)) provider.behavior = generateBehavior(shop, random.pick(outages));
  }
  if (faultProfile.rareTroubles.has("balanced nodes")) loadBalanceNodes(honestProviders, random);
  const isAnyPruned = providers.some(({ behavior }) => behavior.kind === "prunes");
  // Nodes have pruned blocks that the watch has not read yet, for example after a burst of blocks
  // or an outage.
  if (isAnyPruned && random.chance(0.5)) {
    mineBlocks(shop, retainedBlocksMin + random.below(retainedBlocksMin * 3));
    world.count("many blocks together for nodes that prune");
  }
  world.trace(providers.map(({ host, behavior }) => `${host} ${behavior.kind}`).join(", "));
};

/** Puts several nodes behind the addresses of some providers. */
const loadBalanceNodes = (providers: readonly Provider[], random: Random): void => {
  for (const provider of providers) {
    const isHonest = provider.behavior.kind === "honest" || provider.behavior.kind === "lags";
    if (!isHonest || random.chance(0.4)) continue;
    const lagBlocksMax = 1 + random.below(balancedBlocksMax);
    provider.behavior = { kind: "balances", lagBlocksMax, dependsOnMethod: false };
  }
};

/** Makes every address route transaction requests to a node that lacks the newest final blocks. */
export const lagBehindFinality = ({ providers }: ProviderSchedule, random: Random): void => {
  for (const provider of providers) {
    const lagBlocksMax = balancedBlocksMax + random.below(balancedBlocksMax);
    provider.behavior = { kind: "balances", lagBlocksMax, dependsOnMethod: true };
  }
};

/** Makes providers that alter payments also alter new ones. */
export const updateAlteredPayments = ({ providers }: ProviderSchedule, shop: Shop): void => {
  for (const { behavior } of providers)
    if (behavior.kind === "alters") alterUnsettledPayments(shop, behavior.alteredTransactions);
};

/**
 * Makes providers honest. If the first provider has a permanent fault, the other providers
 * compensate for it.
 */
export const resetBehaviors = ({ providers, hasPermanentBehavior }: ProviderSchedule): void => {
  for (const [index, provider] of providers.entries()) {
    provider.behavior =
      hasPermanentBehavior && index === 0 ? permanentBehavior : { kind: "honest" };
  }
};

const generateBehavior = (
  shop: Shop,
  kind: (typeof misreports | typeof outages)[number],
): NodeBehavior => {
  const { chain, world } = shop;
  const { random } = world;
  switch (kind) {
    case "lags":
      return { kind, lagBlocks: 1 + random.below(4) };
    case "stands still":
      return { kind, tip: chain.tip() };
    case "rejects":
      return { kind, status: random.pick([429, 500, 403]) };
    case "renames blocks":
      return { kind, firstBlock: Math.max(0, chain.tip().number - random.below(10)) };
    case "invents": {
      const forgedTransaction = forgeTransaction(shop);
      if (forgedTransaction === undefined) return { kind: "omits logs", omittedFrom: "blooms" };
      // A Bitcoin node can also invent an unconfirmed transaction.
      const aboveTip = shop.kind === bitcoin ? random.below(8) : 0;
      const number = chain.tip().number + aboveTip - random.below(4);
      return { kind, forgedTransactions: new Map([[number, forgedTransaction]]) };
    }
    case "alters":
      return { kind, alteredTransactions: new Map() };
    case "prunes":
      return {
        kind,
        retainedBlocks: retainedBlocksMin + random.below(8),
        olderBlocks: pickOlderBlocksBehavior(random, shop.kind),
      };
    case "omits logs":
      return { kind, omittedFrom: random.pick(["results", "blooms", "receipts"]) };
    case "is silent":
    case "omits receipts":
      return { kind };
  }
};

/**
 * Picks how a pruned node responds to requests for older blocks. geth returns the data or an error,
 * depending on what was pruned. reth, java-tron and Agave omit the data. A Bitcoin node returns the
 * block or an error.
 */
const pickOlderBlocksBehavior = (
  random: Random,
  kind: ChainKind,
): (NodeBehavior & { kind: "prunes" })["olderBlocks"] => {
  if (kind === base) return random.pick(["returned", "rejected", "omitted"]);
  return kind === bitcoin ? "rejected" : "omitted";
};
