import type { Request, Response } from "express";
import { sendJson, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readLink } from "../store/read-link.ts";
import { serializeRetrievedLink } from "./serialize-link.ts";

/** GET /v1/payment-link/:id: returns a link with its owner's public profile. Anyone can call it. */
export const getLink =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = await readLink(dependencies, linkId);
    sendJson(res, 200, serializeRetrievedLink(dependencies, link, dependencies.clock.now()));
  };
