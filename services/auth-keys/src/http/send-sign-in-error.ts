import type { Request, Response } from "express";
import type { ApiError } from "@payment-links/contracts";
import { sendApiError } from "@payment-links/http";

/**
 * Sends errors of the endpoints that a browser navigates to. Redirects a browser to the console,
 * which explains the error code. Sends the usual JSON error to other clients, and to every client
 * that exceeded the rate limit.
 */
export const sendSignInError =
  ({ baseUrl }: { baseUrl: string }) =>
  (apiError: ApiError, req: Request, res: Response): void => {
    const acceptsHtml = req.get("accept")?.includes("text/html") === true;
    if (!acceptsHtml || apiError.status === 429) {
      sendApiError(apiError, res);
      return;
    }
    const [errorEntry] = apiError.entries;
    res.setHeader("Cache-Control", "no-store");
    res.redirect(303, `${baseUrl}/console?error=${encodeURIComponent(errorEntry?.code ?? "")}`);
  };
