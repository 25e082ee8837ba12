import type { Translated } from "@payment-links/http";

/**
 * The texts that a Solana wallet shows if no transaction is created. Wallets show at least the
 * first 80 characters of each text. `{name}` is a placeholder.
 */
export const walletTexts = {
  unknown: "This payment link doesn't exist. Nothing was paid.",
  elsewhere: "This link can't be paid on Solana. Nothing was paid.",
  completed: "This link is already paid. Do not pay again.",
  expired: "This link has expired. Nothing was paid.",
  inactive: "The seller closed this link. Nothing was paid.",
  held: "This link is on hold. Nothing was paid.",
  own_account: "This account receives the payment. Pay from another account.",
  payment_seen: "A payment was detected and is being confirmed. Do not pay again.",
  balance_too_low: "Not enough {symbol}: you need {amount} but have {balance}.",
  noAccount: "Your wallet did not send a valid account. Nothing was paid.",
  lost: "This link's address isn't a wallet. Nothing was paid. Contact the seller.",
  away: "Solana can't be reached right now. Nothing was paid. Try again soon.",
  tooMany: "Too many requests. Nothing was paid. Try again soon.",
  failed: "Something went wrong. Nothing was paid. Try again soon.",
} as const;

/** The texts that each language must provide. */
export type WalletTexts = Translated<typeof walletTexts>;
