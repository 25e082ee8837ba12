import { type Decimal, formatAmount } from "./money.ts";
import { buildQueryString } from "./query-string.ts";

type TransferRequest = {
  /** The owner's wallet, never its token account. */
  recipient: string;
  amount: Decimal;
  /** The mint; undefined for SOL itself. */
  splToken?: string | undefined;
  /** The key that the wallet adds to the transfer, by which it is found (`deriveSolanaReference`). */
  reference: string;
  label?: string | undefined;
  message?: string | undefined;
  memo?: string | undefined;
};

/** Solana Pay's transfer request: the wallet makes the transaction by itself. */
export const buildSolanaTransferRequestUrl = (transfer: TransferRequest): string => {
  const { recipient, amount, splToken, reference, label, message, memo } = transfer;
  const query = buildQueryString([
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
export const buildSolanaTransactionRequestUrl = (url: string): string => {
  const parsedUrl = URL.parse(url);
  if (parsedUrl?.protocol !== "https:") throw new Error("a transaction request goes to https");
  return `solana:${/[?#]/.test(parsedUrl.href) ? encodeURIComponent(parsedUrl.href) : parsedUrl.href}`;
};
