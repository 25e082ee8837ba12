import { buildQueryString } from "../query-string.ts";

type PaymentRequest = {
  address: string;
  /** In BTC, as a plain decimal. */
  amount: string;
  label?: string | undefined;
  message?: string | undefined;
};

/**
 * Builds a BIP-21 payment request. The address stays in lowercase. An uppercase address is also
 * valid and saves space in a QR code with several encoding modes, but these QR codes use a single
 * mode.
 */
export const buildBitcoinUri = ({ address, amount, label, message }: PaymentRequest): string => {
  const query = buildQueryString([
    ["amount", amount],
    ["label", label],
    ["message", message],
  ]);
  return `bitcoin:${address}${query}`;
};
