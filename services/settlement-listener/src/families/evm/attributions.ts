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
export const containsOnlyAttributions = (calldata: Hex, firstByte: number): boolean => {
  let end = (calldata.length - prefixLength) / 2;
  for (let count = 0; count < attributionsMax && end > firstByte; count += 1) {
    const start = findStart(calldata, end);
    if (start === undefined || start < firstByte) return false;
    end = start;
  }
  return end === firstByte;
};

/** Returns the first byte of the attribution that ends at a byte; undefined if none of a known schema does. */
const findStart = (calldata: Hex, end: number): number | undefined => {
  const markerStart = end - markerBytes;
  if (!calldata.startsWith(marker, toHexIndex(markerStart))) return undefined;
  const schemaOffset = markerStart - 1;
  const findSchemaStart = startFinderBySchema[readNumber(calldata, schemaOffset, 1)];
  return findSchemaStart?.(calldata, schemaOffset);
};

type FindStart = (calldata: Hex, end: number) => number;

/** Codes, and their length. */
const findCodesStart: FindStart = (calldata, end) => end - 1 - readNumber(calldata, end - 1, 1);

/** A registry's address and chain id, the length of that, and codes as above. */
const findRegistryStart: FindStart = (calldata, end) => {
  const codesStart = findCodesStart(calldata, end);
  const chainIdBytes = readNumber(calldata, codesStart - 1, 1);
  return codesStart - 1 - chainIdBytes - registryBytes;
};

/** CBOR, and its length in two bytes. */
const findCborStart: FindStart = (calldata, end) => end - 2 - readNumber(calldata, end - 2, 2);

/** By the byte that names them, as `ox/erc8021` 0.14.45 writes them. */
const startFinderBySchema: readonly FindStart[] = [
  findCodesStart,
  findRegistryStart,
  findCborStart,
];

/** Returns NaN for bytes in front of the calldata. */
const readNumber = (calldata: Hex, offset: number, byteCount: number): number =>
  offset < 0
    ? Number.NaN
    : Number.parseInt(calldata.slice(toHexIndex(offset), toHexIndex(offset + byteCount)), 16);

const toHexIndex = (byteOffset: number): number => prefixLength + 2 * byteOffset;
