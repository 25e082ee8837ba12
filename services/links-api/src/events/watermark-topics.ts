import { topics } from "@payment-links/contracts";

/** What settlement-listener must know to have heard, before it forgets a payment without a link. */
export const watermarkTopics: readonly string[] = [topics.paymentLinks];
