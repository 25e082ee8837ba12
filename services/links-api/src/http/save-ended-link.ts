import { createOutgoingEvent, publish } from "@payment-links/bus";
import { linkDeactivated, linkSnapshot } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { type Link, deactivateLink, expireLink, toLinkState } from "../domain/link.ts";
import { updateExpiredLink, updateLink } from "../store/links.ts";

/**
 * Ends a locked link and publishes its state. Only a test link can expire ahead of time. An expiry
 * is published as a snapshot, because consumers compare `expirationDate` with their own clock.
 * Throws `PAYMENT_LINK_NOT_ACTIVE` if the link is no longer active.
 */
export const saveEndedLink = async (
  tx: Transaction,
  end: "expire" | "deactivate",
  { link, now }: { link: Link; now: Date },
): Promise<void> => {
  const endedLink = end === "expire" ? expireLink(link, now) : deactivateLink(link, now);
  if (end === "expire") await updateExpiredLink(tx, endedLink, now);
  else await updateLink(tx, endedLink, now);
  const eventType = end === "expire" ? linkSnapshot : linkDeactivated;
  const data = { link: toLinkState(endedLink, now) };
  await publish(tx, [createOutgoingEvent(eventType, { key: link.id, occurredAt: now, data })]);
};
