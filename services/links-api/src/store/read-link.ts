import { isId, createApiError } from "@payment-links/contracts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import type { FindLinkView } from "./link-views.ts";

/** Reads anybody's link as it is now; where there is none of that id it is refused. */
export const readLink = async (
  { findLinkView }: { findLinkView: FindLinkView },
  linkId: string,
): Promise<OwnedLinkView> => {
  const link = isId("plink", linkId) ? await findLinkView(linkId) : undefined;
  if (link === undefined) throw createApiError("CANNOT_FIND_PAYMENT_LINK");
  return link;
};
