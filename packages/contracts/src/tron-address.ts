import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { type AddressParseResult, tryDecode, isAllZeroBytes } from "./address-parse-result.ts";

const base58check = createBase58check(sha256);
const addressPrefix = 0x41;
/** 21 bytes and a checksum that begin with 0x41 are always `T` and 33 characters more. */
const addressPattern = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const hexPattern = /^(?:0x|41)?([0-9a-fA-F]{40})$/;

/** Reads an address of Tron in its base58check form. */
export const parseTronAddress = (input: string): AddressParseResult => {
  if (!addressPattern.test(input)) return { fault: "malformed" };
  const bytes = tryDecode(() => base58check.decode(input));
  if (bytes === undefined) return { fault: "checksum" };
  if (bytes.length !== 21 || bytes[0] !== addressPrefix) return { fault: "malformed" };
  return isAllZeroBytes(bytes.subarray(1)) ? { fault: "unspendable" } : { address: input };
};

/** The 20 bytes of an address of Tron as 0x-prefixed hex, as java-tron's JSON-RPC has them. Throws on any other text. */
export const tronAddressToHex = (address: string): string => {
  const bytes = addressPattern.test(address)
    ? tryDecode(() => base58check.decode(address))
    : undefined;
  if (bytes?.length !== 21 || bytes[0] !== addressPrefix)
    throw new Error("this is no address of Tron");
  return `0x${bytesToHex(bytes.subarray(1))}`;
};

/** An address of Tron in base58check, from 20 bytes of hex with 0x, 41 or nothing before them. Throws on any other text. */
export const tronAddressFromHex = (hex: string): string => {
  const [, digits] = hexPattern.exec(hex) ?? [];
  if (digits === undefined) throw new Error("this is no address of 20 bytes in hex");
  return base58check.encode(Uint8Array.of(addressPrefix, ...hexToBytes(digits.toLowerCase())));
};
