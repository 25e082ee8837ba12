import { encodeSolanaPayment } from "@payment-links/chains";
import { type RefundTransfer, buildRefund } from "@payment-links/chains/build-refund";
import {
  type CatalogueToken,
  type SolanaAccountState,
  createApiError,
} from "@payment-links/contracts";
import { toBaseUnits } from "./payable-amount.ts";
import type { RefundOrder } from "./refund.ts";

/** Returns what a wallet needs to send a refund, except for a transaction on Solana. */
export const buildRefundTransfer = (
  token: CatalogueToken,
  { amount, destinationAddress }: RefundOrder,
): RefundTransfer =>
  buildRefund(token.chain.chainType, {
    token,
    destinationAddress,
    amountBaseUnits: toBaseUnits(amount, token.decimals),
    amount: amount.toFixed(),
  });

/**
 * Builds the unsigned Solana transaction that sends a refund from an account. Throws `ApiError` if
 * the account has less than the amount, or if money at the destination would be lost (rule
 * CHAIN-26).
 */
export const buildSolanaRefund = (
  token: CatalogueToken,
  { account, amount, destinationAddress }: RefundOrder & { account: string },
  { blockhash, isOwnerReady, isTokenProgramAccount, payerAmount }: SolanaAccountState,
  linkId: string,
): string => {
  const amountBaseUnits = toBaseUnits(amount, token.decimals);
  if (isTokenProgramAccount) throw createApiError("SOLANA_WALLET_REQUIRED");
  if (BigInt(payerAmount) < amountBaseUnits) throw createApiError("BALANCE_TOO_LOW");
  return encodeSolanaPayment({
    payer: account,
    recipient: destinationAddress,
    mint: token.address,
    tokenProgram: token.tokenProgram ?? "token",
    amount: amountBaseUnits,
    decimals: token.decimals,
    memo: linkId,
    isOwnerReady,
    blockhash,
  });
};
