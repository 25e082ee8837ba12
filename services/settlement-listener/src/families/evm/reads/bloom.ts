import { type Hex, keccak256 } from "viem";

/** A header's bloom as bytes: many look into it, so it is read once. */
export type Bloom = Uint8Array;

/** Says whether, by a header's bloom, its block may hold a log with these bytes. */
export type BloomTest = (bloom: Bloom) => boolean;

const bloomBits = 2048;
const bitsPerItem = 3;

/** Reads a header's `logsBloom`. */
export const parseBloom = (logsBloom: Hex): Bloom => Buffer.from(logsBloom.slice(2), "hex");

/**
 * A test for a log that contains all the items (its address, a topic). Each item sets three bits,
 * taken from its keccak256 (Yellow Paper, §4.4.3). Blooms err on one side only: false is certain.
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

/** Which share of what a block does not hold one of these blooms takes for held. */
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

/** Places count from the highest bit of the first byte. */
const findBitPositions = (item: Hex): number[] => {
  const hash = keccak256(item, "bytes");
  return Array.from({ length: bitsPerItem }, (_, index) => {
    const pair = ((hash[index * 2] ?? 0) << 8) | (hash[index * 2 + 1] ?? 0);
    return bloomBits - 1 - (pair % bloomBits);
  });
};
