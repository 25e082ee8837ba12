import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { base58 } from "@scure/base";
import { type AddressParseResult, tryDecode, isAllZeroBytes } from "./address-parse-result.ts";
import { keccak256Hex } from "./evm-address.ts";

/** 32 bytes are 32 to 44 digits of base58; reading takes time with the square of the length. */
const addressPattern = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const addressBytes = 32;

/**
 * Reads an address of Solana. There is no checksum. One that is no point of the curve is right as
 * well, as vaults of several signers have such; the system program, 32 zero bytes, is nobody's.
 */
export const parseSolanaAddress = (input: string): AddressParseResult => {
  const bytes = addressPattern.test(input) ? tryDecode(() => base58.decode(input)) : undefined;
  if (bytes?.length !== addressBytes) return { fault: "malformed" };
  return isAllZeroBytes(bytes) ? { fault: "unspendable" } : { address: input };
};

/**
 * The key by which a payment on Solana names its link (Solana Pay's `reference`): the hash of the
 * link's payment reference as an address. Nobody has its private key.
 */
export const deriveSolanaReference = (paymentReference: string): string =>
  base58.encode(hexToBytes(keccak256Hex(paymentReference).slice(2)));

/** The bytes of base58 text; undefined where it is none, or longer than so many characters. */
export const decodeBase58 = (text: string, lengthMax: number): Uint8Array | undefined =>
  text.length > lengthMax ? undefined : tryDecode(() => base58.decode(text));

/** A key of Solana as `computeReferenceHash` writes it; undefined where the text is no key. */
export const toSolanaReferenceHash = (key: string): string | undefined => {
  const bytes = addressPattern.test(key) ? tryDecode(() => base58.decode(key)) : undefined;
  return bytes?.length === addressBytes ? `0x${bytesToHex(bytes)}` : undefined;
};
