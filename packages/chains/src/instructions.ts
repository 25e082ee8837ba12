import type { BitcoinPayment } from "./bitcoin/instructions.ts";
import type { ContractCalls } from "./evm/fee-proxy.ts";
import type { SolanaTokenTransfer, SolanaTransfer } from "./solana/instructions.ts";

/** Everything that a payer needs besides the amount, in a form that depends on the chain family. */
export type Instructions = ContractCalls | SolanaTransfer | BitcoinPayment;

/**
 * Returns the payment URI that a wallet opens or scans. Returns undefined if the chain family does
 * not have one.
 */
export const getPaymentUri = (instructions: Instructions): string | undefined => {
  if ("uri" in instructions) return instructions.uri;
  return "transferRequestUrl" in instructions ? instructions.transferRequestUrl : undefined;
};

/** Returns whether a link can be paid by a transaction request. */
export const isSolanaTokenTransfer = <Some extends Instructions>(
  instructions: Some,
): instructions is Some & SolanaTokenTransfer =>
  "splToken" in instructions &&
  instructions.splToken !== null &&
  instructions.tokenProgram !== null;
