import type { OwnPaymentLink, PaymentData, TokenData } from "../../../api/operations.ts";

/**
 * Returns the token in which a payment can be refunded. Returns undefined if there is nothing to
 * refund: the payment is simulated, or the money has not arrived, is gone, belongs to another
 * payment, or is in an unknown token.
 */
export const findRefundToken = (
  link: Pick<OwnPaymentLink, "token">,
  { duplicateOf, orphaned, reason, simulated, status, token }: PaymentData,
): TokenData | undefined => {
  if (status !== "settled" || orphaned === true || simulated === true) return undefined;
  if (duplicateOf !== undefined) return undefined;
  return reason === "wrong_token" ? token : link.token;
};
