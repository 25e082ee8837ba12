import { type Hex, keccak256 } from "viem";

/** Says whether, by a header's bloom, its block may hold a log with these bytes. */
export type BloomTest = (logsBloom: Hex) => boolean;

const bloomBits = 2048;
const bitsPerItem = 3;

/**
 * A test for a log that contains all the items (its address, a topic). Each item sets three bits,
 * taken from its keccak256 (Yellow Paper, §4.4.3). Blooms err on one side only: false is certain.
 */
export const createBloomTest = (items: readonly Hex[]): BloomTest => {
  const places = items.flatMap(bitPlaces);
  return (logsBloom) =>
    places.every(({ digit, mask }) => (Number.parseInt(logsBloom.charAt(digit), 16) & mask) !== 0);
};

const bitPlaces = (item: Hex): { digit: number; mask: number }[] => {
  const hash = keccak256(item, "bytes");
  return Array.from({ length: bitsPerItem }, (_, index) => {
    const pair = ((hash[index * 2] ?? 0) << 8) | (hash[index * 2 + 1] ?? 0);
    const bit = bloomBits - 1 - (pair % bloomBits);
    // Bit 0 is the highest bit of the first byte; a hex digit holds four, after the leading 0x.
    return { digit: 2 + Math.floor(bit / 4), mask: 8 >> (bit % 4) };
  });
};
