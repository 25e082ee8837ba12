import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

/** Returns the keccak256 of hex bytes (with or without 0x), as 0x-prefixed hex. */
export const keccak256Hex = (hex: string): string =>
  `0x${bytesToHex(keccak_256(hexToBytes(hex.replace(/^0x/, ""))))}`;
