import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { ChainType } from "./account.ts";
import { keccak256Hex } from "./evm-address.ts";

/**
 * Returns the 32 bytes that match an on-chain payment to its link, as 0x-prefixed hex. On EVM, TVM
 * and SVM, they are the hash of the link's payment reference: a topic of the fee proxy's event
 * (EVM, TVM) or the key of Solana Pay (SVM). On Bitcoin, they are the hash of the link's own
 * address, as text.
 */
export const computeReferenceHash = (
  chainType: ChainType,
  link: { paymentReference: string; destinationAddress: string },
): string =>
  chainType === "BVM"
    ? keccak256Hex(bytesToHex(utf8ToBytes(link.destinationAddress)))
    : keccak256Hex(link.paymentReference);
