import type { Request, Response } from "express";
import { answerJson, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { readLink } from "../store/read-link.ts";
import { showRetrievedLink } from "./show-link.ts";

/** GET /v1/payment-link/:id: one link with its owner's public profile, for anyone. */
export const getLink =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = await readLink(deps, linkId);
    answerJson(res, 200, showRetrievedLink(deps, link, deps.clock.now()));
  };
