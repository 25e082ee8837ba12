import { getFamily, mayBePrivateKey } from "@payment-links/chains";
import {
  type CatalogueToken,
  type Decimal,
  createApiError,
  createValidationError,
  fitsDecimals,
} from "@payment-links/contracts";
import { toBaseUnits } from "./payable-amount.ts";
import type { Payment } from "./payment.ts";

/** What the owner of a link sends back for a payment. The address is in its canonical form. */
export type RefundOrder = { amount: Decimal; destinationAddress: string };

/**
 * A refund that the link's owner recorded after sending it. The money never passes through this
 * service, which does not verify the transaction.
 */
export type Refund = RefundOrder &
  Pick<Payment, "linkId" | "tokenAddress" | "chainId"> & {
    id: string;
    paymentId: string;
    /** In the form that {@link parseTransactionId} returns. */
    transactionId: string;
    recordedAt: Date;
  };

/**
 * Parses what the owner entered for a refund of a payment in this token. Throws `ApiError` if the
 * token cannot have the amount, or the chain cannot have the address.
 */
export const parseRefundOrder = (
  { decimals, chain }: CatalogueToken,
  input: RefundOrder,
): RefundOrder => {
  if (!fitsDecimals(input.amount, decimals)) throw createValidationError("decimal_max_places");
  const { amounts, parseAddress } = getFamily(chain.chainType);
  if (toBaseUnits(input.amount, decimals) > amounts.largest)
    throw createValidationError("decimal_max_digits");
  if (mayBePrivateKey(input.destinationAddress)) throw createApiError("PRIVATE_KEY_REFUSED");
  const parsedAddress = parseAddress(chain.id, input.destinationAddress.trim());
  if ("fault" in parsedAddress) throw createApiError("INVALID_WALLET_ADDRESS");
  return { amount: input.amount, destinationAddress: parsedAddress.address };
};

const hexPattern = /^(?:0x)?[0-9a-f]+$/i;

/**
 * Parses a transaction id as the owner entered it. Returns the spelling of the chain's explorers,
 * in lowercase if it is hexadecimal, so that one transaction has one spelling.
 */
export const parseTransactionId = ({ chain }: CatalogueToken, input: string): string => {
  const { transactionHashPattern } = getFamily(chain.chainType);
  const [, transactionId] = transactionHashPattern.exec(input.trim()) ?? [];
  if (transactionId === undefined) throw createApiError("INVALID_TRANSACTION_ID");
  return hexPattern.test(transactionId) ? transactionId.toLowerCase() : transactionId;
};
