import type { Request, Response } from "express";
import type { ApiError } from "@payment-links/contracts";
import { sendApiError } from "@payment-links/http";
import { sendPageError } from "./send-page.ts";

const apiPaths = /^\/(?:v1|console\/api)(?:\/|$)/;

/**
 * Answers an address where nothing is: a person's browser with a page, a program with the error
 * envelope, and below the APIs everybody with that (rule ERROR-5).
 */
export const sendNotFound = (apiError: ApiError, req: Request, res: Response): void => {
  const isPageRequest = !apiPaths.test(req.path) && ["GET", "HEAD"].includes(req.method);
  if (isPageRequest) res.vary("Accept");
  if (isPageRequest && req.accepts(["json", "html"]) === "html") sendPageError(apiError, req, res);
  else sendApiError(apiError, res);
};
