import { type Hex, keccak256 } from "viem";

/** A header's bloom as bytes: many look into it, so it is read once. */
export type Bloom = Uint8Array;

/** Says whether, by a header's bloom, its block may hold a log with these bytes. */
export type BloomTest = (bloom: Bloom) => boolean;

const bloomBits = 2048;
const bitsPerItem = 3;

/** Reads a header's `logsBloom`. */
export const readBloom = (logsBloom: Hex): Bloom => Buffer.from(logsBloom.slice(2), "hex");

/**
 * A test for a log that contains all the items (its address, a topic). Each item sets three bits,
 * taken from its keccak256 (Yellow Paper, §4.4.3). Blooms err on one side only: false is certain.
 */
export const createBloomTest = (items: readonly Hex[]): BloomTest => {
  const places = items.flatMap(bitPlaces);
  return (bloom) => {
    for (const place of places) {
      if (((bloom[place >> 3] ?? 0) & (128 >> (place & 7))) === 0) return false;
    }
    return true;
  };
};

/** Which share of what a block does not hold one of these blooms takes for held. */
export const falseShareOf = (blooms: readonly Bloom[]): number =>
  1 - blooms.reduce((share, bloom) => share * (1 - fillOf(bloom) ** bitsPerItem), 1);

const fillOf = (bloom: Bloom): number => {
  let set = 0;
  for (const byte of bloom) for (let rest = byte; rest !== 0; rest &= rest - 1) set += 1;
  return set / bloomBits;
};

/** Places count from the highest bit of the first byte. */
const bitPlaces = (item: Hex): number[] => {
  const hash = keccak256(item, "bytes");
  return Array.from({ length: bitsPerItem }, (_, index) => {
    const pair = ((hash[index * 2] ?? 0) << 8) | (hash[index * 2 + 1] ?? 0);
    return bloomBits - 1 - (pair % bloomBits);
  });
};
