import type { Request, Response } from "express";
import { type CookiePolicy, serializeHostCookie, readCookie } from "@payment-links/http";
import { oidcAttemptLifetimeMs } from "../domain/sign-in-attempt.ts";
import { generateToken } from "../domain/token.ts";

const tokenPattern = /^[\w-]{43}$/;

/**
 * The secret that identifies, at the end of a sign-in, the browser that began it, in whatever tab.
 * Without a cookie, a secret that no browser has.
 */
export const readBrowserToken = (req: Request, cookie: CookiePolicy): string => {
  const token = readCookie(req, getBrowserCookieName(cookie));
  return token !== undefined && tokenPattern.test(token) ? token : generateToken();
};

/**
 * The same for a browser that begins a sign-in. It gets a secret if it has none, or keeps its own.
 */
export const setBrowserCookie = (req: Request, res: Response, cookie: CookiePolicy): string => {
  const token = readBrowserToken(req, cookie);
  const name = getBrowserCookieName(cookie);
  const maxAgeSeconds = oidcAttemptLifetimeMs / 1000;
  res.setHeader("Set-Cookie", serializeHostCookie(cookie, { name, value: token, maxAgeSeconds }));
  return token;
};

// The flags are the session cookie's. Lax, because the way back from an identity provider is
// another site's redirect.
const getBrowserCookieName = ({ isSecure }: CookiePolicy): string =>
  isSecure ? "__Host-sign-in" : "sign-in";
