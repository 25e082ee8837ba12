import {
  type SolanaTokenTransfer,
  buildSolanaTransactionRequestUrl,
  isSolanaTokenTransfer,
} from "@payment-links/chains";
import type { Decimal } from "@payment-links/contracts";
import type { PaymentInstructions } from "./payment-instructions.ts";

/**
 * Returns the Solana Pay transaction request URL for a link. Returns null if wallets cannot use it,
 * because they accept only https URLs.
 */
export const buildTransactionRequestUrl = (
  checkoutUrl: string,
  linkId: string,
  instructions: PaymentInstructions,
): string | null =>
  checkoutUrl.startsWith("https:") && isSolanaTokenTransfer(instructions)
    ? buildSolanaTransactionRequestUrl(`${checkoutUrl}/checkout/solana/${linkId}`)
    : null;

/** Why no transaction is created for an account. */
export type NoTransactionReason = "own_account" | "payment_seen" | "balance_too_low";

/**
 * Returns why no transaction can be created, based on what is known without reading the chain.
 * `pendingAmount` is the sum of all pending payments.
 */
export const findNoTransactionReason = (
  { amount, recipient }: PaymentInstructions & SolanaTokenTransfer,
  { account, pendingAmount }: { account: string; pendingAmount: Decimal },
): NoTransactionReason | undefined => {
  if (account === recipient) return "own_account";
  return pendingAmount.gte(amount) ? "payment_seen" : undefined;
};
