import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { type AddressReading, decoded, isZero } from "./address-reading.ts";

const base58check = createBase58check(sha256);
const prefix = 0x41;
/** 21 bytes and a checksum that begin with 0x41 are always `T` and 33 characters more. */
const form = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
const hexForm = /^(?:0x|41)?([0-9a-fA-F]{40})$/;

/** Reads an address of Tron in its base58check form. */
export const readTronAddress = (typed: string): AddressReading => {
  if (!form.test(typed)) return { fault: "malformed" };
  const bytes = decoded(() => base58check.decode(typed));
  if (bytes === undefined) return { fault: "checksum" };
  if (bytes.length !== 21 || bytes[0] !== prefix) return { fault: "malformed" };
  return isZero(bytes.subarray(1)) ? { fault: "unspendable" } : { address: typed };
};

/** The 20 bytes of an address of Tron as 0x-prefixed hex, as java-tron's JSON-RPC has them. Throws on any other text. */
export const tronToHex = (address: string): string => {
  const bytes = form.test(address) ? decoded(() => base58check.decode(address)) : undefined;
  if (bytes?.length !== 21 || bytes[0] !== prefix) throw new Error("this is no address of Tron");
  return `0x${bytesToHex(bytes.subarray(1))}`;
};

/** An address of Tron in base58check, from 20 bytes of hex with 0x, 41 or nothing before them. Throws on any other text. */
export const tronFromHex = (hex: string): string => {
  const [, digits] = hexForm.exec(hex) ?? [];
  if (digits === undefined) throw new Error("this is no address of 20 bytes in hex");
  return base58check.encode(Uint8Array.of(prefix, ...hexToBytes(digits.toLowerCase())));
};
