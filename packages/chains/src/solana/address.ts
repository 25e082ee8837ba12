import { base58 } from "@scure/base";
import { type AddressParseResult, tryDecode, isAllZeroBytes } from "../address-parse-result.ts";

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
  const bytes = decodeSolanaKey(input);
  if (bytes === undefined) return { fault: "malformed" };
  return isAllZeroBytes(bytes) ? { fault: "unspendable" } : { address: input };
};

/** Returns the 32 bytes of a Solana key, or undefined if the text is not a key. */
export const decodeSolanaKey = (text: string): Uint8Array | undefined => {
  const bytes = addressPattern.test(text) ? tryDecode(() => base58.decode(text)) : undefined;
  return bytes?.length === addressBytes ? bytes : undefined;
};

/**
 * Decodes a base58 text. Returns undefined if the text is not base58 or is longer than `lengthMax`.
 */
export const decodeBase58 = (text: string, lengthMax: number): Uint8Array | undefined =>
  text.length > lengthMax ? undefined : tryDecode(() => base58.decode(text));
