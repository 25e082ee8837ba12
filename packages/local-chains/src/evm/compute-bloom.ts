import { keccak256Hex } from "@payment-links/chains";

const bloomBitsCache = new Map<string, readonly number[]>();

/** Returns three of the 2,048 bits of a bloom filter. */
const getBloomBits = (item: string): readonly number[] => {
  const cachedBits = bloomBitsCache.get(item);
  if (cachedBits !== undefined) return cachedBits;
  const hash = Buffer.from(keccak256Hex(item).slice(2), "hex");
  const bits = [0, 2, 4].map((byteOffset) => hash.readUInt16BE(byteOffset) % 2048);
  bloomBitsCache.set(item, bits);
  return bits;
};

/** Computes the bloom filter of addresses and topics, as a node does (Yellow Paper, §4.4.3). */
export const computeBloom = (items: readonly string[]): `0x${string}` => {
  const bits = new Uint8Array(256);
  for (const bit of items.flatMap(getBloomBits)) {
    const byte = 255 - Math.floor(bit / 8);
    bits[byte] = (bits[byte] ?? 0) | (1 << (bit % 8));
  }
  return `0x${Buffer.from(bits).toString("hex")}`;
};
