import { topics } from "@payment-links/contracts";

/**
 * The topics that settlement-listener must have consumed before it drops a deferred payment whose
 * link is unknown.
 */
export const watermarkTopics: readonly string[] = [topics.paymentLinks];
