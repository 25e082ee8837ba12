import type { Request } from "express";
import { isId, createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import type { LinkView } from "../domain/link-view.ts";
import { findOwnLinkView } from "../store/link-views.ts";

/**
 * Returns the link in a console path. If it belongs to another account, throws the same `NOT_FOUND`
 * as for a link that does not exist.
 */
export const getOwnLink = async (
  dependencies: Dependencies,
  req: Request,
  { account }: Caller,
): Promise<LinkView> => {
  const linkId = parsePathParameter(req, "id");
  const link = isId("plink", linkId)
    ? await findOwnLinkView(dependencies.pool, { linkId, userId: account.id })
    : undefined;
  if (link === undefined) throw createApiError("NOT_FOUND");
  return link;
};
