import { isId, createApiError } from "@payment-links/contracts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import type { FindLinkView } from "./link-views.ts";

/**
 * Reads the current state of a link, regardless of its owner. Throws `CANNOT_FIND_PAYMENT_LINK` if
 * the link does not exist.
 */
export const readLink = async (
  { findLinkView }: { findLinkView: FindLinkView },
  linkId: string,
): Promise<OwnedLinkView> => {
  const link = isId("plink", linkId) ? await findLinkView(linkId) : undefined;
  if (link === undefined) throw createApiError("CANNOT_FIND_PAYMENT_LINK");
  return link;
};
