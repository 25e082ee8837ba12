import type { Decimal, LinkStatus, LinkTexts } from "@payment-links/contracts";

/** The fields of a link that webhooks contain, as last received from `payment-links.v1`. */
export type Link = LinkTexts & {
  id: string;
  status: LinkStatus;
  toAmount: Decimal;
  receivedAmount: Decimal;
  currentUsage: number;
  maxUsage: number | null;
  expirationDate: Date | null;
  chainId: string;
  tokenAddress: string;
};

/** Returns a link's status at an instant: `inactive` from the moment it expires (rule STATE-3). */
export const statusAt = (link: Link, now: Date): LinkStatus => {
  const hasExpired = link.expirationDate !== null && link.expirationDate <= now;
  return link.status === "active" && hasExpired ? "inactive" : link.status;
};
