import { type Decimal, buildSolanaTransactionRequestUrl } from "@payment-links/contracts";
import type { PaymentInstructions } from "./payment-instructions.ts";

/** What a link is paid by on Solana, where it is paid in a token. */
export type SolanaInstructions = Extract<PaymentInstructions, { splToken: string | null }> & {
  splToken: string;
  tokenProgram: "token" | "token-2022";
};

/** Whether a link is paid by a transaction that can be asked for. */
export const isSolanaTokenPayment = (
  instructions: PaymentInstructions,
): instructions is SolanaInstructions =>
  "splToken" in instructions &&
  instructions.splToken !== null &&
  instructions.tokenProgram !== null;

/**
 * The transaction request of Solana Pay for a link; null where wallets cannot ask for it: they ask
 * https alone.
 */
export const buildTransactionRequestUrl = (
  checkoutUrl: string,
  linkId: string,
  instructions: PaymentInstructions,
): string | null =>
  checkoutUrl.startsWith("https:") && isSolanaTokenPayment(instructions)
    ? buildSolanaTransactionRequestUrl(`${checkoutUrl}/checkout/solana/${linkId}`)
    : null;

/** Why an account is given no transaction. */
export type NoTransactionReason = "own_account" | "payment_seen" | "balance_too_low";

/** Decides before the chain is asked; `pending` is what all pending payments come to. */
export const findNoTransactionReason = (
  { amount, recipient }: SolanaInstructions,
  { account, pendingAmount }: { account: string; pendingAmount: Decimal },
): NoTransactionReason | undefined => {
  if (account === recipient) return "own_account";
  return pendingAmount.gte(amount) ? "payment_seen" : undefined;
};
