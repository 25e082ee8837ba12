import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { ChainType } from "./account.ts";
import { keccak256Hex } from "./evm-address.ts";

/**
 * Returns the 32 bytes that match an on-chain payment to its link, as 0x-prefixed hex. If payments
 * name the link, this is the hash of its payment reference: a topic of the fee proxy's event (EVM,
 * TVM) or Solana Pay's key (SVM). On Bitcoin it is the hash of the link's own address, as text.
 */
export const computeReferenceHash = (
  chainType: ChainType,
  link: { paymentReference: string; destinationAddress: string },
): string =>
  chainType === "BVM"
    ? keccak256Hex(bytesToHex(utf8ToBytes(link.destinationAddress)))
    : keccak256Hex(link.paymentReference);
