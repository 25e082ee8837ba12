import type { Request } from "express";
import { isId, refuse } from "@payment-links/contracts";
import { readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import type { LinkView } from "../domain/link-view.ts";
import { findOwnLinkView } from "../store/link-views.ts";

/** The link that a console path names; another's is answered as if it did not exist. */
export const getOwnLink = async (
  deps: Deps,
  req: Request,
  { account }: Caller,
): Promise<LinkView> => {
  const linkId = readParam(req, "id");
  const link = isId("plink", linkId)
    ? await findOwnLinkView(deps.pool, { linkId, userId: account.id })
    : undefined;
  if (link === undefined) throw refuse("NOT_FOUND");
  return link;
};
