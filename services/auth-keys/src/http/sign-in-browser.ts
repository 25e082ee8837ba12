import type { Request, Response } from "express";
import { type CookiePolicy, hostCookie, readCookie } from "@payment-links/http";
import { oidcAttemptLifeMs } from "../domain/sign-in-attempt.ts";
import { mintToken } from "../domain/token.ts";

const tokenForm = /^[\w-]{43}$/;

/**
 * The secret that identifies, at the end of a sign-in, the browser that began it, in whatever tab.
 * Without a cookie, a secret that no browser has.
 */
export const readBrowser = (req: Request, cookie: CookiePolicy): string => {
  const token = readCookie(req, browserCookieName(cookie));
  return token !== undefined && tokenForm.test(token) ? token : mintToken();
};

/**
 * The same for a browser that begins a sign-in. It gets a secret if it has none, or keeps its own.
 */
export const keepBrowser = (req: Request, res: Response, cookie: CookiePolicy): string => {
  const token = readBrowser(req, cookie);
  const name = browserCookieName(cookie);
  const maxAgeSeconds = oidcAttemptLifeMs / 1000;
  res.setHeader("Set-Cookie", hostCookie(cookie, { name, value: token, maxAgeSeconds }));
  return token;
};

// The flags are the session cookie's. Lax, because the way back from an identity provider is
// another site's redirect.
const browserCookieName = ({ isSecure }: CookiePolicy): string =>
  isSecure ? "__Host-sign-in" : "sign-in";
