import { parseCookie, stringifySetCookie } from "cookie";
import type { Request } from "express";
import { type SessionService, refuse, sessionServices } from "@payment-links/contracts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** How a service's session cookie is named and kept on this origin (rule CALLER-8). */
export type CookiePolicy = { name: string; isSecure: boolean; origin: string };

/**
 * The secrets of one session: a token for each service, and one that binds them to this host where
 * cookies are secure.
 */
export type SessionTokens = Record<SessionService | "host", string>;

/**
 * The paths at which a browser sends each service its token (rule CALLER-40). They must agree with the
 * origin's routing (rule OPS-1). A cookie's path covers whole segments only, so `deposits.csv` needs its
 * own.
 */
export const sessionPaths: Readonly<Record<SessionService, readonly string[]>> = {
  "auth-keys": [
    "session",
    "sessions",
    "identities",
    "passkeys",
    "account",
    "wallets",
    "tokens",
    "api-keys",
    "audit-log",
  ].map(underConsole),
  "links-api": [
    "payment-links",
    "payment-links.csv",
    "payments.csv",
    "deposits",
    "deposits.csv",
    "overview",
  ].map(underConsole),
  "webhook-dispatcher": ["webhook-endpoints", "webhook-deliveries"].map(underConsole),
};

function underConsole(segment: string): string {
  return `/console/api/${segment}`;
}

const cookieNames: Readonly<Record<SessionService, string>> = {
  "auth-keys": "session",
  "links-api": "session-links",
  "webhook-dispatcher": "session-webhooks",
};

/** Another host of the domain cannot set a cookie of this prefix, but its path must be `/`. */
const hostCookieName = "__Host-session";

/** Whether a plain-http origin would carry the session cookie in the clear over a network. */
export const isInsecureOrigin = (baseUrl: string): boolean => {
  const url = new URL(baseUrl);
  return url.protocol === "http:" && !loopbackHosts.has(url.hostname);
};

/** Whether browsers reach the origin over plain http on their own machine alone. */
export const isLocalOrigin = (baseUrl: string): boolean =>
  new URL(baseUrl).protocol === "http:" && !isInsecureOrigin(baseUrl);

/** Derives the name and flags of a service's session cookie from the origin that browsers use. */
export const cookiePolicy = (
  baseUrl: string,
  service: SessionService = "auth-keys",
): CookiePolicy => {
  const url = new URL(baseUrl);
  const isSecure = url.protocol === "https:";
  return { name: nameOf(service, isSecure), isSecure, origin: url.origin };
};

const nameOf = (service: SessionService, isSecure: boolean): string =>
  `${isSecure ? "__Secure-" : ""}${cookieNames[service]}`;

/** The value of a request's cookie, if it carries one of that name. */
export const readCookie = (req: Request, name: string): string | undefined => {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[name];
};

/** The session token that a request carries for this service, if any. */
export const readSessionToken = (req: Request, policy: CookiePolicy): string | undefined => {
  const own = readCookie(req, policy.name);
  if (!policy.isSecure || own === undefined) return own;
  const host = readCookie(req, hostCookieName);
  return host === undefined ? undefined : joinTokens(host, own);
};

/** The session token that a service will read from the cookies of these tokens. */
export const sessionTokenFor = (
  service: SessionService,
  { isSecure }: CookiePolicy,
  tokens: SessionTokens,
): string => (isSecure ? joinTokens(tokens.host, tokens[service]) : tokens[service]);

const joinTokens = (host: string, own: string): string => `${host}.${own}`;

/** The `Set-Cookie` value of a cookie that the whole host gets, under a name of its own. */
export const hostCookie = (
  { isSecure }: CookiePolicy,
  { name, value, maxAgeSeconds }: { name: string; value: string; maxAgeSeconds: number },
): string => cookieLine({ name, value, maxAgeSeconds, isSecure, path: "/" });

/** The `Set-Cookie` values that keep a session: of each service, the one of auth-keys first. */
export const sessionCookies = (
  policy: CookiePolicy,
  tokens: SessionTokens,
  maxAgeSeconds: number,
): string[] => {
  const { isSecure } = policy;
  const ofServices = sessionServices.flatMap((service) => {
    const cookie = { name: nameOf(service, isSecure), value: tokens[service], maxAgeSeconds };
    return sessionPaths[service].map((path) => cookieLine({ ...cookie, isSecure, path }));
  });
  const ofHost = { name: hostCookieName, value: tokens.host, maxAgeSeconds };
  return isSecure ? [...ofServices, hostCookie(policy, ofHost)] : ofServices;
};

/** The `Set-Cookie` values that end a session in the browser. */
export const endedSessionCookies = (policy: CookiePolicy): string[] =>
  sessionCookies(
    policy,
    { "auth-keys": "", "links-api": "", "webhook-dispatcher": "", host: "" },
    0,
  );

type CookieLine = {
  name: string;
  value: string;
  path: string;
  isSecure: boolean;
  maxAgeSeconds: number;
};

const cookieLine = ({ name, value, path, isSecure, maxAgeSeconds }: CookieLine): string =>
  stringifySetCookie({
    name,
    value,
    path,
    httpOnly: true,
    sameSite: "lax",
    secure: isSecure,
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
