import type { Hex } from "viem";

const prefixLength = "0x".length;
const marker = "80218021802180218021802180218021";
const markerBytes = marker.length / 2;
const registryBytes = 20;

/** More than an app, a wallet and their relayers write. It bounds the work that hostile calldata can cause. */
const attributionsMax = 16;

/**
 * Returns whether calldata from a byte on holds nothing but attributions (ERC-8021), which apps, wallets and
 * relayers append. Each is read from its end: a marker, one byte that names its schema, and data whose
 * length that schema tells. No length reaches in front of the given byte.
 */
export const areAttributions = (calldata: Hex, from: number): boolean => {
  let end = (calldata.length - prefixLength) / 2;
  for (let count = 0; count < attributionsMax && end > from; count += 1) {
    const start = findStart(calldata, end);
    if (start === undefined || start < from) return false;
    end = start;
  }
  return end === from;
};

/** Returns the first byte of the attribution that ends at a byte; undefined if none of a known schema does. */
const findStart = (calldata: Hex, end: number): number | undefined => {
  const markerAt = end - markerBytes;
  if (!calldata.startsWith(marker, textAt(markerAt))) return undefined;
  const schemaAt = markerAt - 1;
  const startOf = schemas[readNumber(calldata, schemaAt, 1)];
  return startOf?.(calldata, schemaAt);
};

type StartOf = (calldata: Hex, end: number) => number;

/** Codes, and their length. */
const startOfCodes: StartOf = (calldata, end) => end - 1 - readNumber(calldata, end - 1, 1);

/** A registry's address and chain id, the length of that, and codes as above. */
const startOfRegistry: StartOf = (calldata, end) => {
  const codesAt = startOfCodes(calldata, end);
  const chainIdBytes = readNumber(calldata, codesAt - 1, 1);
  return codesAt - 1 - chainIdBytes - registryBytes;
};

/** CBOR, and its length in two bytes. */
const startOfCbor: StartOf = (calldata, end) => end - 2 - readNumber(calldata, end - 2, 2);

/** By the byte that names them, as `ox/erc8021` 0.14.45 writes them. */
const schemas: readonly StartOf[] = [startOfCodes, startOfRegistry, startOfCbor];

/** Returns NaN for bytes in front of the calldata. */
const readNumber = (calldata: Hex, at: number, bytes: number): number =>
  at < 0 ? Number.NaN : Number.parseInt(calldata.slice(textAt(at), textAt(at + bytes)), 16);

const textAt = (byte: number): number => prefixLength + 2 * byte;
