import type { Translated } from "@payment-links/http";

/**
 * The texts that a Solana wallet shows when no transaction is created. Wallets show at least the
 * first 80 characters of each. `{name}` is a placeholder.
 */
export const walletTexts = {
  unknown: "There is no such payment link. Nothing was paid.",
  elsewhere: "This link cannot be paid on Solana. Nothing was paid.",
  completed: "This link has been paid. Do not pay it again.",
  expired: "This link has expired. Nothing was paid.",
  inactive: "Its owner has closed this link. Nothing was paid.",
  held: "This link takes no payments right now. Nothing was paid.",
  own_account: "This is the account that is to be paid. Pay from another one.",
  payment_seen: "A payment was seen and is being confirmed. Do not pay again.",
  balance_too_low: "Too little {symbol}: it is {amount}, and here are {balance}.",
  noAccount: "Your wallet did not say which account pays. Nothing was paid.",
  lost: "This link's address cannot be a wallet. Nothing was paid; ask its owner.",
  away: "Solana cannot be reached right now. Nothing was paid; try again soon.",
  tooMany: "Too many requests. Nothing was paid; try again soon.",
  failed: "Something failed here. Nothing was paid; try again soon.",
} as const;

/** The texts that every language must provide. */
export type WalletTexts = Translated<typeof walletTexts>;
