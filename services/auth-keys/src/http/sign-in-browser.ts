import type { Request, Response } from "express";
import { type CookiePolicy, readSessionToken, sessionCookie } from "@payment-links/http";
import { oidcAttemptLifeMs } from "../domain/sign-in-attempt.ts";
import { mintToken } from "../domain/token.ts";

const tokenForm = /^[\w-]{43}$/;

/**
 * The secret by which the browser that began a sign-in is known again when the sign-in ends,
 * whatever tab that happens in. Without one, a secret that is no browser's.
 */
export const readBrowser = (req: Request, cookie: CookiePolicy): string => {
  const token = readSessionToken(req, browserCookie(cookie));
  return token !== undefined && tokenForm.test(token) ? token : mintToken();
};

/**
 * The same for a browser that begins a sign-in, which is given one where it has none, or keeps it.
 */
export const keepBrowser = (req: Request, res: Response, cookie: CookiePolicy): string => {
  const token = readBrowser(req, cookie);
  res.setHeader(
    "Set-Cookie",
    sessionCookie(browserCookie(cookie), token, oidcAttemptLifeMs / 1000),
  );
  return token;
};

// The flags are the session cookie's: Lax, as the way back from an identity provider is another
// site's.
const browserCookie = (cookie: CookiePolicy): CookiePolicy => ({
  ...cookie,
  name: cookie.isSecure ? "__Host-sign-in" : "sign-in",
});
