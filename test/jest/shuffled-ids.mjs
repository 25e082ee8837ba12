// Replaces `typeid-js` when `SHUFFLED_IDS` is set, for example by `npm run test:flaky`. All IDs get
// the same timestamp, so their order is random. A test that relies on the order of IDs then fails
// quickly.
import { randomBytes } from "node:crypto";
import { fromUUIDBytes, typeidUnboxed as createOrderedId } from "typeid-js";

export * from "typeid-js";

const timestampMs = Date.now();

/**
 * The tests of IDs disable the shuffling. The object is mutable, because all files of a process
 * share this module.
 */
export const idShuffling = { isEnabled: true };

/** Creates a TypeID like the library: a prefix and a UUIDv7. */
export const typeidUnboxed = (prefix) => {
  if (!idShuffling.isEnabled) return createOrderedId(prefix);
  const bytes = randomBytes(16);
  bytes.writeUIntBE(timestampMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0b0000_1111) | 0b0111_0000, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0b0011_1111) | 0b1000_0000, 8);
  return fromUUIDBytes(prefix, bytes);
};
