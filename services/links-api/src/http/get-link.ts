import type { Request, Response } from "express";
import { isId, refuse } from "@payment-links/contracts";
import { answerJson, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { showRetrievedLink } from "./show-link.ts";

/** GET /v1/payment-link/:id: one link with its owner's public profile, for anyone. */
export const getLink =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = isId("plink", linkId) ? await deps.findLinkView(linkId) : undefined;
    if (link === undefined) throw refuse("CANNOT_FIND_PAYMENT_LINK");
    answerJson(res, 200, showRetrievedLink(deps, link, deps.clock.now()));
  };
