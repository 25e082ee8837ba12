import { parseCookie, stringifySetCookie } from "cookie";
import type { Request } from "express";
import { type SessionService, createApiError, sessionServices } from "@payment-links/contracts";

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
export const sessionCookiePaths: Readonly<Record<SessionService, readonly string[]>> = {
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
  ].map(toConsolePath),
  "links-api": [
    "payment-links",
    "payment-links.csv",
    "payments.csv",
    "deposits",
    "deposits.csv",
    "overview",
  ].map(toConsolePath),
  "webhook-dispatcher": ["webhook-endpoints", "webhook-deliveries"].map(toConsolePath),
};

function toConsolePath(segment: string): string {
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
export const createCookiePolicy = (
  baseUrl: string,
  service: SessionService = "auth-keys",
): CookiePolicy => {
  const url = new URL(baseUrl);
  const isSecure = url.protocol === "https:";
  return { name: getCookieName(service, isSecure), isSecure, origin: url.origin };
};

const getCookieName = (service: SessionService, isSecure: boolean): string =>
  `${isSecure ? "__Secure-" : ""}${cookieNames[service]}`;

/** The value of a request's cookie, if it carries one of that name. */
export const readCookie = (req: Request, name: string): string | undefined => {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[name];
};

/** The session token that a request carries for this service, if any. */
export const readSessionToken = (req: Request, policy: CookiePolicy): string | undefined => {
  const serviceToken = readCookie(req, policy.name);
  if (!policy.isSecure || serviceToken === undefined) return serviceToken;
  const hostToken = readCookie(req, hostCookieName);
  return hostToken === undefined ? undefined : joinTokens(hostToken, serviceToken);
};

/** The session token that a service will read from the cookies of these tokens. */
export const getSessionToken = (
  service: SessionService,
  { isSecure }: CookiePolicy,
  tokens: SessionTokens,
): string => (isSecure ? joinTokens(tokens.host, tokens[service]) : tokens[service]);

const joinTokens = (hostToken: string, serviceToken: string): string =>
  `${hostToken}.${serviceToken}`;

/** The `Set-Cookie` value of a cookie that the whole host gets, under a name of its own. */
export const serializeHostCookie = (
  { isSecure }: CookiePolicy,
  { name, value, maxAgeSeconds }: { name: string; value: string; maxAgeSeconds: number },
): string => serializeCookie({ name, value, maxAgeSeconds, isSecure, path: "/" });

/** The `Set-Cookie` values that keep a session: of each service, the one of auth-keys first. */
export const serializeSessionCookies = (
  policy: CookiePolicy,
  tokens: SessionTokens,
  maxAgeSeconds: number,
): string[] => {
  const { isSecure } = policy;
  const serviceCookies = sessionServices.flatMap((service) => {
    const cookie = {
      name: getCookieName(service, isSecure),
      value: tokens[service],
      maxAgeSeconds,
    };
    return sessionCookiePaths[service].map((path) =>
      serializeCookie({ ...cookie, isSecure, path }),
    );
  });
  const hostCookieFields = { name: hostCookieName, value: tokens.host, maxAgeSeconds };
  return isSecure
    ? [...serviceCookies, serializeHostCookie(policy, hostCookieFields)]
    : serviceCookies;
};

/** The `Set-Cookie` values that end a session in the browser. */
export const serializeExpiredSessionCookies = (policy: CookiePolicy): string[] =>
  serializeSessionCookies(
    policy,
    { "auth-keys": "", "links-api": "", "webhook-dispatcher": "", host: "" },
    0,
  );

type CookieFields = {
  name: string;
  value: string;
  path: string;
  isSecure: boolean;
  maxAgeSeconds: number;
};

const serializeCookie = ({ name, value, path, isSecure, maxAgeSeconds }: CookieFields): string =>
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
export const rejectCrossSiteRequest = (req: Request, policy: CookiePolicy): void => {
  const fetchSite = req.headers["sec-fetch-site"];
  if (fetchSite !== undefined) {
    const isSafeMethod = req.method === "GET" || req.method === "HEAD";
    const isSameSite = fetchSite === "same-origin" || (fetchSite === "none" && isSafeMethod);
    if (!isSameSite) throw createApiError("CROSS_SITE_REQUEST");
    return;
  }
  const origin = req.headers.origin;
  if (origin !== undefined && origin !== policy.origin) throw createApiError("CROSS_SITE_REQUEST");
};
