import type { LinkStatus, PaymentLinkState } from "@payment-links/contracts";

/** The fields of a link that webhooks contain, as last received from `payment-links.v1`. */
export type Link = Omit<
  PaymentLinkState,
  "version" | "userId" | "destinationAddress" | "paymentReference" | "dateCreated"
>;

/** Returns a link's status at an instant: `inactive` from the moment it expires (rule STATE-3). */
export const statusAt = (link: Link, now: Date): LinkStatus => {
  const hasExpired = link.expirationDate !== null && link.expirationDate <= now;
  return link.status === "active" && hasExpired ? "inactive" : link.status;
};
