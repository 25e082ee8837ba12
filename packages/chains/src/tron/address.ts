import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { type AddressParseResult, tryDecode, isAllZeroBytes } from "../address-parse-result.ts";

const base58check = createBase58check(sha256);
const addressPrefix = 0x41;
/** 21 bytes that begin with 0x41, followed by a checksum, are always `T` and 33 more characters. */
const addressPattern = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const hexPattern = /^(?:0x|41)?([0-9a-fA-F]{40})$/;

/** Parses a Tron address in its base58check form. */
export const parseTronAddress = (input: string): AddressParseResult => {
  if (!addressPattern.test(input)) return { fault: "malformed" };
  const bytes = tryDecode(() => base58check.decode(input));
  if (bytes === undefined) return { fault: "checksum" };
  if (bytes.length !== 21 || bytes[0] !== addressPrefix) return { fault: "malformed" };
  return isAllZeroBytes(bytes.subarray(1)) ? { fault: "unspendable" } : { address: input };
};

/**
 * Returns the 20 bytes of a Tron address as 0x-prefixed hex, the form of java-tron's JSON-RPC.
 * Throws on any other text.
 */
export const tronAddressToHex = (address: string): string => {
  const bytes = addressPattern.test(address)
    ? tryDecode(() => base58check.decode(address))
    : undefined;
  if (bytes?.length !== 21 || bytes[0] !== addressPrefix) throw new Error("not a Tron address");
  return `0x${bytesToHex(bytes.subarray(1))}`;
};

/**
 * Returns the base58check form of a Tron address from 20 bytes of hex, optionally prefixed with 0x
 * or 41. Throws on any other text.
 */
export const tronAddressFromHex = (hex: string): string => {
  const [, digits] = hexPattern.exec(hex) ?? [];
  if (digits === undefined) throw new Error("not a 20-byte address in hex");
  return base58check.encode(Uint8Array.of(addressPrefix, ...hexToBytes(digits.toLowerCase())));
};
