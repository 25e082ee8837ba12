import { parseCookie, stringifySetCookie } from "cookie";
import type { Request } from "express";
import { type SessionService, createApiError, sessionServices } from "@payment-links/contracts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The name, security and origin of a service's session cookie (rule CALLER-8). */
export type CookiePolicy = { name: string; isSecure: boolean; origin: string };

/**
 * The secrets of one session: one token per service, and a host token. If cookies are secure, a
 * service's token is valid only together with the host token.
 */
export type SessionTokens = Record<SessionService | "host", string>;

/**
 * The paths for which browsers send each service its token (rule CALLER-40). They must match the
 * origin's routing (rule OPS-1). A cookie's path matches whole segments only, so `deposits.csv`
 * needs its own path.
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

/**
 * Browsers do not let other hosts of the domain set a cookie with this prefix. The prefix requires
 * the path `/`.
 */
const hostCookieName = "__Host-session";

/**
 * Returns whether browsers would send the session cookie to this origin unencrypted over a network.
 */
export const isInsecureOrigin = (baseUrl: string): boolean => {
  const url = new URL(baseUrl);
  return url.protocol === "http:" && !loopbackHosts.has(url.hostname);
};

/** Returns whether the origin uses plain HTTP, but only on the browser's own machine. */
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

/**
 * Returns the value of a request's cookie, or undefined if it is absent. Decodes only this cookie:
 * each invalid encoding throws an error internally, and 16 KB of them would take 40 ms.
 */
export const readCookie = (req: Request, name: string): string | undefined => {
  const header = req.headers.cookie;
  if (header === undefined) return undefined;
  const encodedValue = parseCookie(header, { decode: (text) => text })[name];
  return encodedValue === undefined ? undefined : parseCookie(`${name}=${encodedValue}`)[name];
};

/** Returns this service's session token from a request, or undefined if it is absent. */
export const readSessionToken = (req: Request, policy: CookiePolicy): string | undefined => {
  const serviceToken = readCookie(req, policy.name);
  if (!policy.isSecure || serviceToken === undefined) return serviceToken;
  const hostToken = readCookie(req, hostCookieName);
  return hostToken === undefined ? undefined : joinTokens(hostToken, serviceToken);
};

/** Returns the session token that a service would read from cookies with these tokens. */
export const getSessionToken = (
  service: SessionService,
  { isSecure }: CookiePolicy,
  tokens: SessionTokens,
): string => (isSecure ? joinTokens(tokens.host, tokens[service]) : tokens[service]);

const joinTokens = (hostToken: string, serviceToken: string): string =>
  `${hostToken}.${serviceToken}`;

/** Returns the `Set-Cookie` value of a cookie for the whole host. */
export const serializeHostCookie = (
  { isSecure }: CookiePolicy,
  { name, value, maxAgeSeconds }: { name: string; value: string; maxAgeSeconds: number },
): string => serializeCookie({ name, value, maxAgeSeconds, isSecure, path: "/" });

/** Returns the `Set-Cookie` values that store a session. The cookies of auth-keys come first. */
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

/** Returns the `Set-Cookie` values that delete a session from the browser. */
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
 * Rejects requests that a page of another site makes a browser send. Checks Fetch Metadata headers
 * if there are any, and otherwise `Origin`. A client that sends neither is not a browser.
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
