import { type Hex, keccak256 } from "viem";

/** A header's bloom filter as bytes. It is parsed only once, because it is tested many times. */
export type Bloom = Uint8Array;

/**
 * Returns whether a block may contain a log with certain bytes, according to the bloom in its
 * header.
 */
export type BloomTest = (bloom: Bloom) => boolean;

const bloomBits = 2048;
const bitsPerItem = 3;

/** Parses a header's `logsBloom`. */
export const parseBloom = (logsBloom: Hex): Bloom => Buffer.from(logsBloom.slice(2), "hex");

/**
 * Creates a test for a log that contains all items, for example its address and a topic. Each item
 * sets three bits that are derived from its keccak256 hash (Yellow Paper, §4.4.3). A bloom has
 * false positives but no false negatives.
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
 * Returns the probability that at least one of these blooms matches although its block does not
 * contain the log.
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

/** Returns bit positions. They are counted from the highest bit of the first byte. */
const findBitPositions = (item: Hex): number[] => {
  const hash = keccak256(item, "bytes");
  return Array.from({ length: bitsPerItem }, (_, index) => {
    const pair = ((hash[index * 2] ?? 0) << 8) | (hash[index * 2 + 1] ?? 0);
    return bloomBits - 1 - (pair % bloomBits);
  });
};
