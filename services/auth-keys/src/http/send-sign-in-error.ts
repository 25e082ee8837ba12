import type { Request, Response } from "express";
import type { ApiError } from "@payment-links/contracts";
import { sendApiError } from "@payment-links/http";

/**
 * How a refusal is answered where a browser goes by itself. A person goes back to the console,
 * which tells them what the code means. A program, and anybody who asks too often, gets the error
 * envelope.
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
