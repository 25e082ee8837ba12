import { type Address, type Hex, getAddress, keccak256, slice, toFunctionSelector } from "viem";
import { containsOnlyAttributions } from "./attributions.ts";
import type { TransactionCall } from "./rpc-results.ts";

/**
 * A transfer that identifies its link in the calldata: 16 bytes follow the arguments of ERC-20's
 * `transfer`.
 */
export type SuffixedTransfer = {
  token: Hex;
  /** In EIP-55 form. */
  destination: Address;
  /** The amount that the payer requested, in base units. */
  amount: bigint;
  referenceHash: Hex;
};

const transferSelector = toFunctionSelector("transfer(address,uint256)");

const selectorBytes = 4;
const wordBytes = 32;
const addressBytes = 20;
const argumentsEnd = selectorBytes + 2 * wordBytes;
const referenceBytes = 16;
const referenceEnd = argumentsEnd + referenceBytes;

/**
 * Decodes the call of a transaction. Returns undefined unless it is a transfer that is followed by
 * a 16-byte reference and then only by attributions (rule CHAIN-25). The address must have the
 * canonical ABI encoding, because tokens handle the bytes before the 20-byte address differently.
 * The received amount comes from the token's own log.
 */
export const decodeSuffixedTransfer = ({
  input,
  to,
}: TransactionCall): SuffixedTransfer | undefined => {
  if (to === null || !input.startsWith(transferSelector)) return undefined;
  if (!containsOnlyAttributions(input, referenceEnd)) return undefined;
  const addressStart = selectorBytes + wordBytes - addressBytes;
  const padding = slice(input, selectorBytes, addressStart);
  if (BigInt(padding) !== 0n) return undefined;
  const amountStart = addressStart + addressBytes;
  return {
    token: to,
    destination: getAddress(slice(input, addressStart, amountStart)),
    amount: BigInt(slice(input, amountStart, argumentsEnd)),
    referenceHash: keccak256(slice(input, argumentsEnd, referenceEnd)),
  };
};
