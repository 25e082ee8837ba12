import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { base58 } from "@scure/base";
import { type AddressParseResult, tryDecode, isAllZeroBytes } from "./address-parse-result.ts";
import { keccak256Hex } from "./evm-address.ts";

/**
 * 32 bytes are 32 to 44 base58 digits. The limit is needed because base58 decoding takes quadratic
 * time.
 */
const addressPattern = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const addressBytes = 32;

/**
 * Parses a Solana address. Solana addresses have no checksum. An address that is not a point on the
 * curve is valid, because multisig vaults have such addresses. The address of the system program,
 * 32 zero bytes, is `unspendable`.
 */
export const parseSolanaAddress = (input: string): AddressParseResult => {
  const bytes = addressPattern.test(input) ? tryDecode(() => base58.decode(input)) : undefined;
  if (bytes?.length !== addressBytes) return { fault: "malformed" };
  return isAllZeroBytes(bytes) ? { fault: "unspendable" } : { address: input };
};

/**
 * Derives the key by which a payment on Solana identifies its link (Solana Pay's `reference`): the
 * hash of the link's payment reference, as an address. No one has its private key.
 */
export const deriveSolanaReference = (paymentReference: string): string =>
  base58.encode(hexToBytes(keccak256Hex(paymentReference).slice(2)));

/**
 * Decodes a base58 text. Returns undefined if the text is not base58 or is longer than `lengthMax`.
 */
export const decodeBase58 = (text: string, lengthMax: number): Uint8Array | undefined =>
  text.length > lengthMax ? undefined : tryDecode(() => base58.decode(text));

/**
 * Converts a Solana key to the form of `computeReferenceHash`. Returns undefined if the text is not
 * a key.
 */
export const toSolanaReferenceHash = (key: string): string | undefined => {
  const bytes = addressPattern.test(key) ? tryDecode(() => base58.decode(key)) : undefined;
  return bytes?.length === addressBytes ? `0x${bytesToHex(bytes)}` : undefined;
};
