import { type Decimal, formatAmount } from "./money.ts";
import { buildQueryString } from "./query-string.ts";

type PaymentRequest = {
  address: string;
  /** In BTC. */
  amount: Decimal;
  label?: string | undefined;
  message?: string | undefined;
};

/**
 * Builds a payment request of BIP-21. The address stays in lower case. Capitals are valid as well
 * and save space in a QR code with several modes, but these QR codes use a single mode.
 */
export const buildBitcoinUri = ({ address, amount, label, message }: PaymentRequest): string => {
  const query = buildQueryString([
    ["amount", formatAmount(amount)],
    ["label", label],
    ["message", message],
  ]);
  return `bitcoin:${address}${query}`;
};
