import type { Hex } from "viem";

const prefixLength = "0x".length;
const marker = "80218021802180218021802180218021";
const markerBytes = marker.length / 2;
const registryBytes = 20;

/**
 * More than an app, a wallet and their relayers append. This limits the work that hostile calldata
 * can cause.
 */
const attributionsMax = 16;

/**
 * Returns whether the calldata from `firstByte` on contains only attributions (ERC-8021). Apps,
 * wallets and relayers append them. Each attribution is parsed from its end: a 16-byte marker, one
 * schema byte, and data whose length depends on the schema. No attribution may start before
 * `firstByte`.
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

/**
 * Returns the first byte of the attribution that ends at `end`, or undefined if there is no
 * attribution with a known schema.
 */
const findStart = (calldata: Hex, end: number): number | undefined => {
  const markerStart = end - markerBytes;
  if (!calldata.startsWith(marker, toHexIndex(markerStart))) return undefined;
  const schemaOffset = markerStart - 1;
  const findSchemaStart = startFinderBySchema[readNumber(calldata, schemaOffset, 1)];
  return findSchemaStart?.(calldata, schemaOffset);
};

type FindStart = (calldata: Hex, end: number) => number;

/** The codes, followed by their length in one byte. */
const findCodesStart: FindStart = (calldata, end) => end - 1 - readNumber(calldata, end - 1, 1);

/**
 * A registry's address, its chain id, the length of the chain id in one byte, and codes as above.
 */
const findRegistryStart: FindStart = (calldata, end) => {
  const codesStart = findCodesStart(calldata, end);
  const chainIdBytes = readNumber(calldata, codesStart - 1, 1);
  return codesStart - 1 - chainIdBytes - registryBytes;
};

/** CBOR data, followed by its length in two bytes. */
const findCborStart: FindStart = (calldata, end) => end - 2 - readNumber(calldata, end - 2, 2);

/** Indexed by the schema byte. The schemas are those that `ox/erc8021` 0.14.45 writes. */
const startFinderBySchema: readonly FindStart[] = [
  findCodesStart,
  findRegistryStart,
  findCborStart,
];

/** Returns NaN for an offset before the start of the calldata. */
const readNumber = (calldata: Hex, offset: number, byteCount: number): number =>
  offset < 0
    ? Number.NaN
    : Number.parseInt(calldata.slice(toHexIndex(offset), toHexIndex(offset + byteCount)), 16);

const toHexIndex = (byteOffset: number): number => prefixLength + 2 * byteOffset;
