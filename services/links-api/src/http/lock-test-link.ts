import type { Request } from "express";
import { createOutgoingEvent, publish } from "@payment-links/bus";
import { createApiError, isId, linkDeactivated, linkSnapshot } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import { type Link, deactivateLink, expireLink, toLinkState } from "../domain/link.ts";
import { lockLinks, updateExpiredLink, updateLink } from "../store/links.ts";

/** Throws `TEST_KEY_REQUIRED` unless the caller has a test key (rule MODE-7). */
export const requireTestKey = ({ credential }: Caller): void => {
  if (credential.mode !== "test") throw createApiError("TEST_KEY_REQUIRED");
};

/**
 * Locks the test link in a path until the transaction ends. Throws the same error for a link of
 * another account, a live link and an unknown id.
 */
export const lockTestLink = async (
  tx: Transaction,
  req: Request,
  { account }: Caller,
): Promise<Link> => {
  const linkId = parsePathParameter(req, "id");
  const link = isId("plink", linkId) ? (await lockLinks(tx, [linkId])).get(linkId) : undefined;
  if (link === undefined || link.userId !== account.id || link.mode !== "test")
    throw createApiError("CANNOT_FIND_PAYMENT_LINK");
  return link;
};

/**
 * Ends a locked test link and publishes its state. An expiry is published as a snapshot, because
 * consumers compare `expirationDate` with their own clock. Throws `PAYMENT_LINK_NOT_ACTIVE` if the
 * link is no longer active.
 */
export const saveTestLink = async (
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
