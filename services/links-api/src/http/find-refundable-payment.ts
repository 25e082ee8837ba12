import { type CatalogueToken, createApiError } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { type Payment, isSimulated } from "../domain/payment.ts";
import { findPayment } from "../store/payments.ts";

/**
 * Returns a payment of a link with its token. Throws `NOT_FOUND` if the link does not have the
 * payment, or if the catalogue does not have its token, whose decimals and chain are then unknown.
 * Throws `PAYMENT_SIMULATED` if there is no money to refund (rule MODE-8).
 */
export const findRefundablePayment = async (
  { catalogue }: Dependencies,
  db: Db,
  { linkId, paymentId }: { linkId: string; paymentId: string },
): Promise<{ payment: Payment; token: CatalogueToken }> => {
  const payment = await findPayment(db, paymentId);
  if (payment?.linkId !== linkId) throw createApiError("NOT_FOUND");
  if (isSimulated(payment)) throw createApiError("PAYMENT_SIMULATED");
  const token = catalogue.findTokenByAddress(payment.chainId, payment.tokenAddress);
  if (token === undefined) throw createApiError("NOT_FOUND");
  return { payment, token };
};
