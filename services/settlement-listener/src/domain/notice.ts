import type * as z from "zod";
import { isEvmAddress, toEip55 } from "@payment-links/chains";
import {
  type CatalogueToken,
  body,
  dateTime,
  fitsBaseUnits,
  createValidationError,
  nullable,
  oneOf,
  paymentStatuses,
  positiveDecimal,
  required,
  text,
} from "@payment-links/contracts";
import type { PaymentReport } from "./payment.ts";

const textLengthMax = 200;

const shortText = text({ lengthMin: 1, lengthMax: textLengthMax });

/** The body of a provider's notice (rule NOTICE-1). */
export const SettlementNotice = body({
  id: required(shortText).describe("The provider's ID of this payment."),
  paymentLinkId: required(shortText),
  status: required(oneOf(paymentStatuses)),
  amount: required(positiveDecimal),
  tokenAddress: required(shortText),
  chainId: required(shortText),
  destinationAddress: required(shortText),
  sourceTransaction: nullable(shortText),
  occurredAt: required(dateTime).describe("The chain time of the payer's transaction."),
});
export type SettlementNotice = z.output<typeof SettlementNotice>;

/**
 * Converts a provider's notice to a payment report, with EVM addresses in EIP-55 form. The prefix
 * `provider:` keeps a provider's name from colliding with the source of a chain.
 */
export const noticeToPaymentReport = (
  provider: string,
  notice: SettlementNotice,
): PaymentReport => ({
  source: `provider:${provider}`,
  sourceId: notice.id,
  paymentLinkId: notice.paymentLinkId,
  status: notice.status,
  amount: notice.amount,
  tokenAddress: normalizeEvmAddress(notice.tokenAddress),
  chainId: notice.chainId,
  destinationAddress: normalizeEvmAddress(notice.destinationAddress),
  sourceTransaction: notice.sourceTransaction ?? null,
  occurredAt: notice.occurredAt,
  blockNumber: null,
});

/**
 * Throws 422 `decimal_max_digits` if the amount has more than 78 digits in the token's base units.
 * Accepts any amount of a token that is not in the catalogue.
 */
export const assertFitsBaseUnits = (
  report: PaymentReport,
  token: CatalogueToken | undefined,
): void => {
  if (token !== undefined && !fitsBaseUnits(report.amount, token.decimals)) {
    throw createValidationError("decimal_max_digits");
  }
};

const normalizeEvmAddress = (address: string): string =>
  isEvmAddress(address) ? toEip55(address) : address;
