import type { Request } from "express";
import { createApiError, isId } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import type { Link } from "../domain/link.ts";
import { lockLinks } from "../store/links.ts";

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
  const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
  const link = isId("plink", linkId) ? (await lockLinks(tx, [linkId])).get(linkId) : undefined;
  if (link === undefined || link.userId !== account.id || link.mode !== "test")
    throw createApiError("CANNOT_FIND_PAYMENT_LINK");
  return link;
};
