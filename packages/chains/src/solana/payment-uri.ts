import { buildQueryString } from "../query-string.ts";

type TransferRequest = {
  /** The owner's wallet, never its token account. */
  recipient: string;
  /** In whole tokens, as a plain decimal. */
  amount: string;
  /** The mint; undefined for SOL itself. */
  splToken?: string | undefined;
  /**
   * The key that the wallet adds to the transfer. It identifies the payment
   * (`deriveSolanaReference`).
   */
  reference: string;
  label?: string | undefined;
  message?: string | undefined;
  memo?: string | undefined;
};

/** Builds a Solana Pay transfer request. The wallet creates the transaction itself. */
export const buildSolanaTransferRequestUrl = (transfer: TransferRequest): string => {
  const { recipient, amount, splToken, reference, label, message, memo } = transfer;
  const query = buildQueryString([
    ["amount", amount],
    ["spl-token", splToken],
    ["reference", reference],
    ["label", label],
    ["message", message],
    ["memo", memo],
  ]);
  return `solana:${recipient}${query}`;
};

/**
 * Builds a Solana Pay transaction request. The wallet requests the transaction from that https URL.
 * A URL with a query is encoded as a whole, so that wallets do not mistake its parameters for the
 * protocol's own.
 */
export const buildSolanaTransactionRequestUrl = (url: string): string => {
  const parsedUrl = URL.parse(url);
  if (parsedUrl?.protocol !== "https:") throw new Error("a transaction request needs an https URL");
  return `solana:${/[?#]/.test(parsedUrl.href) ? encodeURIComponent(parsedUrl.href) : parsedUrl.href}`;
};
