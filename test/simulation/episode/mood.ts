import { type Random, createRandom } from "../random.ts";

/** How often what goes wrong in an episode, and how much goes on. */
export type Mood = ReturnType<typeof drawMood> & { rare: ReadonlySet<RareTrouble> };

/** Each episode has its own weather: where all goes wrong at once, little gets far. */
export const drawMood = (random: Random, { isBitcoin }: { isBitcoin: boolean }) => ({
  statement: random.pick([0, 0.001, 0.003, 0.01]),
  lateCommit: random.pick([0, 0.02, 0.08]),
  call: random.pick([0, 0.03, 0.1]),
  kill: random.pick([0, 0.01, 0.04]),
  rebalance: random.pick([0, 0.05, 0.2]),
  away: random.pick([0, 0.02, 0.05]),
  flight: random.pick([0, 0.05, 0.1]),
  fork: random.pick([0, 0.1, 0.3]),
  // On Bitcoin payments are to wait for a while.
  blockMsMax: random.pick(isBitcoin ? [2_000, 10_000] : [1_000, 4_000]),
  deepFork: random.pick([0, 0.02, 0.04]),
  burst: random.pick([0, 0, 0.02]),
  deactivation: random.pick([0.01, 0.1]),
  dump: random.pick([0, 0.05]),
  lostLog: random.pick([0, 0.015]),
  operator: random.pick([0, 0.03]),
  provider: random.pick([0, 0.1, 0.3, 0.3]),
  pruned: random.pick([0, 0.3, 0.6]),
  lies: random.pick([0, 0.5, 1]),
  disturbance: random.pick([0.02, 0.05]),
  lag: random.pick([0, 0, 3_000, 12_000]),
  orders: random.pick([4, 4, 12]),
  deposits: random.pick([0.2, 0.6]),
  replacements: isBitcoin ? random.pick([0.05, 0.3]) : 0,
  // A short episode costs half as much as a long one.
  wildMs: random.pick([25_000, 60_000]),
});

/** Troubles that only some episodes play. */
const rareTroubles = [
  /** Several nodes share a provider's address, and some of them lag. */
  "balanced nodes",
  /** Some transactions hold megabytes of strangers' data. */
  "heavy transactions",
  /** A provider serves another chain for a while. */
  "other chain",
  /** A payment provider reports payments that the watched chain holds as well. */
  "repeated notices",
  /** On Bitcoin: the listener receives links minutes late, and strangers pay addresses before links have them. */
  "late links",
] as const;

export type RareTrouble = (typeof rareTroubles)[number];

/** Adjacent seeds must not share their draws. */
const seedStep = 7_919;

/**
 * Draws an episode's rare troubles: none, one, or all. They come from a source of their own, so that adding
 * one leaves the episodes without it as they were.
 */
export const drawRareTroubles = (seed: number): ReadonlySet<RareTrouble> => {
  const random = createRandom(seed * seedStep);
  const one = random.pick(rareTroubles);
  return new Set(random.pick([[], [one], [one], rareTroubles]));
};
