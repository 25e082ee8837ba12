import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { base58 } from "@scure/base";
import { hashPaymentReference } from "../payment-reference.ts";
import { decodeSolanaKey } from "./address.ts";

/**
 * Derives the key by which a payment on Solana identifies its link (Solana Pay's `reference`): the
 * hash of the link's payment reference, as an address. No one has its private key.
 */
export const deriveSolanaReference = (paymentReference: string): string =>
  base58.encode(hexToBytes(hashPaymentReference({ paymentReference }).slice(2)));

/**
 * Converts a Solana key to the form of a link's reference hash. Returns undefined if the text is
 * not a key.
 */
export const toSolanaReferenceHash = (key: string): string | undefined => {
  const bytes = decodeSolanaKey(key);
  return bytes === undefined ? undefined : `0x${bytesToHex(bytes)}`;
};
