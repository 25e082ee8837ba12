import { parseCookie, stringifySetCookie } from "cookie";
import type { Request } from "express";
import { refuse } from "@payment-links/contracts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** How the session cookie is named and kept on this origin (rule CALLER-8). */
export type CookiePolicy = { name: string; isSecure: boolean; origin: string };

/** Whether a plain-http origin would carry the session cookie in the clear over a network. */
export const isInsecureOrigin = (baseUrl: string): boolean => {
  const url = new URL(baseUrl);
  return url.protocol === "http:" && !loopbackHosts.has(url.hostname);
};

/** Whether browsers reach the origin over plain http on their own machine alone. */
export const isLocalOrigin = (baseUrl: string): boolean =>
  new URL(baseUrl).protocol === "http:" && !isInsecureOrigin(baseUrl);

/** Derives the cookie's name and flags from the origin that browsers use. */
export const cookiePolicy = (baseUrl: string): CookiePolicy => {
  const url = new URL(baseUrl);
  const isSecure = url.protocol === "https:";
  return { name: isSecure ? "__Host-session" : "session", isSecure, origin: url.origin };
};

/** The session token that a request carries, if any. */
export const readSessionToken = (req: Request, policy: CookiePolicy): string | undefined => {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[policy.name];
};

/** The `Set-Cookie` value that keeps a session, or with an empty token ends it. */
export const sessionCookie = (policy: CookiePolicy, token: string, maxAgeSeconds: number): string =>
  stringifySetCookie({
    name: policy.name,
    value: token,
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: policy.isSecure,
    maxAge: maxAgeSeconds,
  });

/**
 * Refuses what another site's page makes a browser send (Fetch Metadata, then Origin). A client
 * that sends neither is no browser.
 */
export const refuseOtherSites = (req: Request, policy: CookiePolicy): void => {
  const site = req.headers["sec-fetch-site"];
  if (site !== undefined) {
    const isRead = req.method === "GET" || req.method === "HEAD";
    const isOwn = site === "same-origin" || (site === "none" && isRead);
    if (!isOwn) throw refuse("CROSS_SITE_REQUEST");
    return;
  }
  const origin = req.headers.origin;
  if (origin !== undefined && origin !== policy.origin) throw refuse("CROSS_SITE_REQUEST");
};
