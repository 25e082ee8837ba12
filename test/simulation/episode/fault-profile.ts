import { type Random, createRandom } from "../random.ts";

/** The frequency of each fault in an episode, and the amount of load. */
export type FaultProfile = ReturnType<typeof generateFaultProfile> & {
  rareTroubles: ReadonlySet<RareTrouble>;
};

/**
 * Picks an episode's fault profile at random. With all faults together, the system would make
 * little progress.
 */
export const generateFaultProfile = (random: Random, { isBitcoin }: { isBitcoin: boolean }) => ({
  statementFaultChance: random.pick([0, 0.001, 0.003, 0.01]),
  lateCommitChance: random.pick([0, 0.02, 0.08]),
  callFaultChance: random.pick([0, 0.03, 0.1]),
  killChance: random.pick([0, 0.01, 0.04]),
  rebalanceChance: random.pick([0, 0.05, 0.2]),
  brokerOutageChance: random.pick([0, 0.02, 0.05]),
  timeJumpChance: random.pick([0, 0.05, 0.1]),
  forkChance: random.pick([0, 0.1, 0.3]),
  // On Bitcoin, payments should stay unconfirmed for some time.
  blockMsMax: random.pick(isBitcoin ? [2_000, 10_000] : [1_000, 4_000]),
  deepForkChance: random.pick([0, 0.02, 0.04]),
  blockBurstChance: random.pick([0, 0, 0.02]),
  deactivationChance: random.pick([0.01, 0.1]),
  dumpChance: random.pick([0, 0.05]),
  logLossChance: random.pick([0, 0.015]),
  operatorCommandChance: random.pick([0, 0.03]),
  providerChangeChance: random.pick([0, 0.1, 0.3, 0.3]),
  prunedNodesChance: random.pick([0, 0.3, 0.6]),
  misreportChance: random.pick([0, 0.5, 1]),
  disturbanceChance: random.pick([0.02, 0.05]),
  lagMsMax: random.pick([0, 0, 3_000, 12_000]),
  ordersMax: random.pick([4, 4, 12]),
  depositChance: random.pick([0.2, 0.6]),
  replacementChance: isBitcoin ? random.pick([0.05, 0.3]) : 0,
  // A short episode takes half as long as a long one.
  faultPhaseMs: random.pick([25_000, 60_000]),
});

/** Faults that only some episodes include. */
const rareTroubleNames = [
  /** Several nodes share a provider's address, and some of them lag. */
  "balanced nodes",
  /** Some transactions carry large unrelated data. */
  "heavy transactions",
  /** A provider temporarily serves another chain. */
  "other chain",
  /** A payment provider reports payments that are also on the watched chain. */
  "repeated notices",
  /**
   * On Bitcoin: the listener receives links with a delay of several minutes, and payers pay
   * addresses before links have them.
   */
  "late links",
] as const;

export type RareTrouble = (typeof rareTroubleNames)[number];

/** Adjacent seeds must not pick the same random numbers. */
const seedMultiplier = 7_919;

/**
 * Picks an episode's rare faults: none, one, or all. Uses a separate random source, so that a new
 * rare fault does not change the episodes without it.
 */
export const pickRareTroubles = (seed: number): ReadonlySet<RareTrouble> => {
  const random = createRandom(seed * seedMultiplier);
  const pickedTrouble = random.pick(rareTroubleNames);
  return new Set(random.pick([[], [pickedTrouble], [pickedTrouble], rareTroubleNames]));
};
