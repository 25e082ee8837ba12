// Takes the place of `typeid-js` where `SHUFFLED_IDS` is set, as by `npm run test:flaky`: all ids are of one
// millisecond, so their order is random, and a test that relies on it fails soon.
import { randomBytes } from "node:crypto";
import { fromUUIDBytes, typeidUnboxed as makeOrdered } from "typeid-js";

export * from "typeid-js";

const madeAtMs = Date.now();

/** Off for the test of the ids themselves. A module is loaded once for all files of a process. */
export const shuffling = { isOn: true };

/** Makes a TypeID as the library does: a UUIDv7 below a prefix. */
export const typeidUnboxed = (prefix) => {
  if (!shuffling.isOn) return makeOrdered(prefix);
  const bytes = randomBytes(16);
  bytes.writeUIntBE(madeAtMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0b0000_1111) | 0b0111_0000, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0b0011_1111) | 0b1000_0000, 8);
  return fromUUIDBytes(prefix, bytes);
};
