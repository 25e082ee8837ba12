import { type Decimal, formatAmount } from "./money.ts";
import { queryText } from "./query-text.ts";

type Transfer = {
  /** The owner's wallet, never its token account. */
  recipient: string;
  amount: Decimal;
  /** The mint; undefined for SOL itself. */
  splToken?: string | undefined;
  /** The key that the wallet adds to the transfer, by which it is found (`solanaReference`). */
  reference: string;
  label?: string | undefined;
  message?: string | undefined;
  memo?: string | undefined;
};

/** Solana Pay's transfer request: the wallet makes the transaction by itself. */
export const solanaPayUrl = (transfer: Transfer): string => {
  const { recipient, amount, splToken, reference, label, message, memo } = transfer;
  const query = queryText([
    ["amount", formatAmount(amount)],
    ["spl-token", splToken],
    ["reference", reference],
    ["label", label],
    ["message", message],
    ["memo", memo],
  ]);
  return `solana:${recipient}${query}`;
};

/**
 * Solana Pay's transaction request: the wallet asks that https address for the transaction. An address
 * with a query is encoded whole, so that its parameters are not taken for the protocol's own.
 */
export const solanaRequestUrl = (url: string): string => {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "https:") throw new Error("a transaction request goes to https");
  return `solana:${/[?#]/.test(parsed.href) ? encodeURIComponent(parsed.href) : parsed.href}`;
};
