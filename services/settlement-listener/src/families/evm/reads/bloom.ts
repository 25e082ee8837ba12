import { type Hex, keccak256 } from "viem";

/** A header's bloom as bytes. It is parsed once because many tests use it. */
export type Bloom = Uint8Array;

/**
 * Returns whether a block may contain a log with certain bytes, according to its header's bloom.
 */
export type BloomTest = (bloom: Bloom) => boolean;

const bloomBits = 2048;
const bitsPerItem = 3;

/** Parses a header's `logsBloom`. */
export const parseBloom = (logsBloom: Hex): Bloom => Buffer.from(logsBloom.slice(2), "hex");

/**
 * Creates a test for a log that contains all items (its address, a topic). Each item sets three
 * bits, derived from its keccak256 (Yellow Paper, §4.4.3). A bloom has false positives, but no
 * false negatives.
 */
export const createBloomTest = (items: readonly Hex[]): BloomTest => {
  const positions = items.flatMap(findBitPositions);
  return (bloom) => {
    for (const position of positions) {
      if (((bloom[position >> 3] ?? 0) & (128 >> (position & 7))) === 0) return false;
    }
    return true;
  };
};

/**
 * Returns the probability that at least one of these blooms matches a log that its block does not
 * contain.
 */
export const estimateFalsePositiveRate = (blooms: readonly Bloom[]): number =>
  1 -
  blooms.reduce(
    (negativeRate, bloom) => negativeRate * (1 - computeFillRatio(bloom) ** bitsPerItem),
    1,
  );

const computeFillRatio = (bloom: Bloom): number => {
  let setBitCount = 0;
  for (const byte of bloom)
    for (let remainingBits = byte; remainingBits !== 0; remainingBits &= remainingBits - 1)
      setBitCount += 1;
  return setBitCount / bloomBits;
};

/** Returns bit positions, counted from the highest bit of the first byte. */
const findBitPositions = (item: Hex): number[] => {
  const hash = keccak256(item, "bytes");
  return Array.from({ length: bitsPerItem }, (_, index) => {
    const pair = ((hash[index * 2] ?? 0) << 8) | (hash[index * 2 + 1] ?? 0);
    return bloomBits - 1 - (pair % bloomBits);
  });
};
