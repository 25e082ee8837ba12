import type * as z from "zod";
import {
  type CatalogueToken,
  body,
  dateTime,
  fitsBaseUnits,
  invalid,
  isEvmAddress,
  nullable,
  oneOf,
  paymentStatuses,
  positiveDecimal,
  required,
  text,
  toEip55,
} from "@payment-links/contracts";
import type { Sighting } from "./payment.ts";

const textLengthMax = 200;

const word = text({ lengthMin: 1, lengthMax: textLengthMax });

/** The body of a provider's notice (rule NOTICE-1). */
export const SettlementNotice = body({
  id: required(word).describe("The provider's own id of this payment."),
  paymentLinkId: required(word),
  status: required(oneOf(paymentStatuses)),
  amount: required(positiveDecimal),
  tokenAddress: required(word),
  chainId: required(word),
  destinationAddress: required(word),
  sourceTransaction: nullable(word),
  occurredAt: required(dateTime).describe("The chain time of the payer's transaction."),
});
export type SettlementNotice = z.output<typeof SettlementNotice>;

/**
 * Turns a provider's notice into a sighting; EVM addresses get their EIP-55 form. The source's
 * prefix keeps a provider that is called like a chain apart from that chain's own source.
 */
export const sightingOf = (provider: string, notice: SettlementNotice): Sighting => ({
  source: `provider:${provider}`,
  sourceId: notice.id,
  paymentLinkId: notice.paymentLinkId,
  status: notice.status,
  amount: notice.amount,
  tokenAddress: asEip55(notice.tokenAddress),
  chainId: notice.chainId,
  destinationAddress: asEip55(notice.destinationAddress),
  sourceTransaction: notice.sourceTransaction ?? null,
  occurredAt: notice.occurredAt,
  blockNumber: null,
});

/**
 * Refuses an amount that, in the token's base units, is longer than 78 digits (422
 * `decimal_max_digits`). A token that the catalogue does not know is not judged.
 */
export const checkBaseUnits = (sighting: Sighting, token: CatalogueToken | undefined): void => {
  if (token !== undefined && !fitsBaseUnits(sighting.amount, token.decimals)) {
    throw invalid("decimal_max_digits");
  }
};

const asEip55 = (address: string): string => (isEvmAddress(address) ? toEip55(address) : address);
