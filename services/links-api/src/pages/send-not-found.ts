import type { Request, Response } from "express";
import type { ApiError } from "@payment-links/contracts";
import { sendApiError } from "@payment-links/http";
import { sendPageError } from "./send-page.ts";

const apiPaths = /^\/(?:v1|console\/api)(?:\/|$)/;

/**
 * Sends a 404 response for an unknown path. Browsers get a page. Other clients, and all clients
 * under the APIs' paths, get the API's error response (rule ERROR-5).
 */
export const sendNotFound = (apiError: ApiError, req: Request, res: Response): void => {
  const isPageRequest = !apiPaths.test(req.path) && ["GET", "HEAD"].includes(req.method);
  if (isPageRequest) res.vary("Accept");
  if (isPageRequest && req.accepts(["json", "html"]) === "html") sendPageError(apiError, req, res);
  else sendApiError(apiError, res);
};
