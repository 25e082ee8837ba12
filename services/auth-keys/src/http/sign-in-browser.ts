import type { Request, Response } from "express";
import { type CookiePolicy, serializeHostCookie, readCookie } from "@payment-links/http";
import { oidcAttemptLifetimeMs } from "../domain/sign-in-attempt.ts";
import { generateToken } from "../domain/token.ts";

const tokenPattern = /^[\w-]{43}$/;

/**
 * Returns the secret that identifies the browser that started a sign-in, in any of its tabs.
 * Without a valid cookie, returns a new secret that no browser has.
 */
export const readBrowserToken = (req: Request, cookie: CookiePolicy): string => {
  const token = readCookie(req, getBrowserCookieName(cookie));
  return token !== undefined && tokenPattern.test(token) ? token : generateToken();
};

/**
 * Returns the secret of a browser that starts a sign-in, and sets it as a cookie. Reuses an
 * existing one.
 */
export const setBrowserCookie = (req: Request, res: Response, cookie: CookiePolicy): string => {
  const token = readBrowserToken(req, cookie);
  const name = getBrowserCookieName(cookie);
  const maxAgeSeconds = oidcAttemptLifetimeMs / 1000;
  res.setHeader("Set-Cookie", serializeHostCookie(cookie, { name, value: token, maxAgeSeconds }));
  return token;
};

// The cookie has the flags of the session cookie. SameSite is Lax, because identity providers
// return by a cross-site redirect.
const getBrowserCookieName = ({ isSecure }: CookiePolicy): string =>
  isSecure ? "__Host-sign-in" : "sign-in";
