/** The only source of randomness in a run. Because every choice uses it, a seed replays a run. */
export type Random = {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns an integer from 0 to `bound` - 1. */
  below(bound: number): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  /** Returns one item of a non-empty list. */
  pick<T>(items: readonly T[]): T;
};

const range = 2 ** 32;

/**
 * Implements sfc32 by Chris Doty-Humphrey, which passes PractRand: 128 bits of state, seeded from
 * one number.
 */
export const createRandom = (seed: number): Random => {
  let [a, b, c, counter] = [0x9e3779b9, Math.trunc(seed / range), seed >>> 0, 1];
  const nextUint32 = (): number => {
    const output = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + output) | 0;
    return output >>> 0;
  };
  for (let warmUpRound = 0; warmUpRound < 15; warmUpRound += 1) nextUint32();
  const next = (): number => nextUint32() / range;
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]) => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[below(items.length)] as T;
    },
  };
};
