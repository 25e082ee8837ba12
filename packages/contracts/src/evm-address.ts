import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

const evmAddressPattern = /^0x[0-9a-fA-F]{40}$/;

/** Returns whether a text is 0x and 20 bytes of hex, in any case. */
export const isEvmAddress = (text: string): boolean => evmAddressPattern.test(text);

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

/** Returns the keccak256 of hex bytes (with or without 0x), as 0x-prefixed hex. */
export const keccak256Hex = (hex: string): string =>
  `0x${bytesToHex(keccak_256(hexToBytes(hex.replace(/^0x/, ""))))}`;
