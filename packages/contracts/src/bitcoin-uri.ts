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
 * A payment request of BIP-21. The address stays in lower case: capitals are right too and take less
 * room in a QR code of several modes, but ours are of one.
 */
export const buildBitcoinUri = ({ address, amount, label, message }: PaymentRequest): string => {
  const query = buildQueryString([
    ["amount", formatAmount(amount)],
    ["label", label],
    ["message", message],
  ]);
  return `bitcoin:${address}${query}`;
};
