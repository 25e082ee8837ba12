import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Hex } from "viem";
import type { AddressParseResult } from "../address-parse-result.ts";

const evmAddressPattern = /^0x[0-9a-fA-F]{40}$/;

/** Returns whether a text is 0x and 20 bytes of hex, in any case. */
export const isEvmAddress = (text: string): boolean => evmAddressPattern.test(text);

/** Converts an EVM address to the type that viem expects. */
export const toHex = (address: string): Hex => `0x${address.slice(2)}`;

/** Converts an EVM address to its EIP-55 form. The text must be an EVM address. */
export const toEip55 = (address: string): string => {
  const lower = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)));
  const checksummedDigits = [...lower].map((digit, index) =>
    Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${checksummedDigits.join("")}`;
};

/**
 * Returns whether a mixed-case address has a valid EIP-55 checksum. An address in a single case has
 * no checksum and passes.
 */
export const hasValidEip55 = (address: string): boolean => {
  const digits = address.slice(2);
  const isSingleCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isSingleCase || toEip55(address) === address;
};

/** Parses an EVM address. The case of a mixed-case address is a checksum (EIP-55). */
export const parseEvmAddress = (input: string): AddressParseResult => {
  if (!isEvmAddress(input)) return { fault: "malformed" };
  if (!hasValidEip55(input)) return { fault: "checksum" };
  return /^0x0+$/.test(input) ? { fault: "unspendable" } : { address: toEip55(input) };
};
