import { type Decimal, formatAmount } from "./money.ts";
import { queryText } from "./query-text.ts";

type Request = {
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
export const bitcoinUri = ({ address, amount, label, message }: Request): string => {
  const query = queryText([
    ["amount", formatAmount(amount)],
    ["label", label],
    ["message", message],
  ]);
  return `bitcoin:${address}${query}`;
};
