import { type Decimal, buildSolanaTransactionRequestUrl } from "@payment-links/contracts";
import type { PaymentInstructions } from "./payment-instructions.ts";

/** The instructions for a link that is paid in a Solana token. */
export type SolanaInstructions = Extract<PaymentInstructions, { splToken: string | null }> & {
  splToken: string;
  tokenProgram: "token" | "token-2022";
};

/** Returns whether a link can be paid by a transaction request. */
export const isSolanaTokenPayment = (
  instructions: PaymentInstructions,
): instructions is SolanaInstructions =>
  "splToken" in instructions &&
  instructions.splToken !== null &&
  instructions.tokenProgram !== null;

/**
 * Returns the Solana Pay transaction request URL for a link. Returns null if wallets cannot use it,
 * because they accept only https URLs.
 */
export const buildTransactionRequestUrl = (
  checkoutUrl: string,
  linkId: string,
  instructions: PaymentInstructions,
): string | null =>
  checkoutUrl.startsWith("https:") && isSolanaTokenPayment(instructions)
    ? buildSolanaTransactionRequestUrl(`${checkoutUrl}/checkout/solana/${linkId}`)
    : null;

/** Why no transaction is created for an account. */
export type NoTransactionReason = "own_account" | "payment_seen" | "balance_too_low";

/**
 * Returns why no transaction can be created, based on what is known without reading the chain.
 * `pendingAmount` is the sum of all pending payments.
 */
export const findNoTransactionReason = (
  { amount, recipient }: SolanaInstructions,
  { account, pendingAmount }: { account: string; pendingAmount: Decimal },
): NoTransactionReason | undefined => {
  if (account === recipient) return "own_account";
  return pendingAmount.gte(amount) ? "payment_seen" : undefined;
};
