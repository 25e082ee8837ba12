import { type BlockList, isIP } from "node:net";
import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import type { Caller, Identity } from "@payment-links/identity";
import {
  type Bucket,
  type Decision,
  type Limit,
  type Limiter,
  addressBucketId,
  rateLimitHeaders,
} from "@payment-links/rate-limit";
import { isInNetworks, createNetworkList } from "./network-list.ts";
import { receiveBody } from "./parse-request.ts";
import type { Method, RouteLimit, Route } from "./route.ts";
import { type CookiePolicy, readSessionToken, rejectCrossSiteRequest } from "./session-cookie.ts";

/** The dependencies and settings that decide whether a request is allowed. */
export type RequestAuthorizer = {
  limiter: Limiter;
  limits: { perKey: Limit; perAddress: Limit };
  identity: Identity;
  cookie: CookiePolicy;
};

/**
 * The maximum age of a cached caller for a write. It is short, because a write can change where
 * money goes.
 */
export const writeMaxAgeMs = 1_000;
const readMaxAgeMs = 5_000;

/** Returns the maximum age of a cached caller for a route's method (rule CALLER-3). */
const getMaxAgeMs = (method: Method): number => (method === "get" ? readMaxAgeMs : writeMaxAgeMs);

/**
 * Checks a request's rate limits, then its caller, then its scope, in that order (rule API-18), and
 * returns the caller. For a cached key, one limiter call covers both buckets. For an unknown key,
 * takes a token from its address's bucket first (rule API-22).
 */
export const authorizeRequest = async (
  authorizer: RequestAuthorizer,
  route: Route,
  req: Request,
  res: Response,
): Promise<Caller | undefined> => {
  const caller = await limitAndAuthenticate(authorizer, route, req, res);
  if (caller === undefined || route.method === "get") return caller;
  route.largeBodies?.reserve(caller.account.id, res);
  if (req.complete) return caller;
  // A body can arrive up to 30 s after its headers. The caller is checked again, because the
  // session or key may have been revoked in the meantime.
  await receiveBody(req, route.largeBodies?.bytesMax);
  return authenticateCaller(authorizer, route, req);
};

const limitAndAuthenticate = async (
  authorizer: RequestAuthorizer,
  route: Route,
  req: Request,
  res: Response,
): Promise<Caller | undefined> => {
  const { caller: callerRule, method, routeLimit } = route;
  if (callerRule.by === "api-key") {
    return authorizeApiKey(
      authorizer,
      { scope: callerRule.scope, maxAgeMs: getMaxAgeMs(method) },
      req,
      res,
    );
  }
  const addressBucket = createAddressBucket(authorizer, req, routeLimit);
  await takeTokens(authorizer, res, [addressBucket]);
  const caller = await authenticateCaller(authorizer, route, req);
  if (caller !== undefined && routeLimit !== undefined) {
    const { policy, limit } = addressBucket;
    const accountBucket = { policy: `${policy}-account`, id: caller.account.id, limit };
    await takeTokens(authorizer, res, [accountBucket]);
  }
  return caller;
};

/** Authenticates the caller and checks that the caller may use the route. */
const authenticateCaller = async (
  authorizer: RequestAuthorizer,
  { caller: callerRule, method, needsPresence = false }: Route,
  req: Request,
): Promise<Caller | undefined> => {
  if (callerRule.by === "anyone") return undefined;
  const maxAgeMs = getMaxAgeMs(method);
  if (callerRule.by === "api-key")
    return requireAccess(
      await authenticateApiKey(authorizer, maxAgeMs, req),
      callerRule.scope,
      req,
    );
  rejectCrossSiteRequest(req, authorizer.cookie);
  const token = readSessionToken(req, authorizer.cookie);
  if (token === undefined) throw createApiError("UNAUTHENTICATED");
  return authorizer.identity.authenticateSession(token, { maxAgeMs, needsPresence });
};

const authenticateApiKey = async (
  { identity }: RequestAuthorizer,
  maxAgeMs: number,
  req: Request,
): Promise<Caller> => {
  const key = req.get("x-api-key");
  if (key === undefined || key === "") throw createApiError("UNAUTHENTICATED");
  return identity.authenticateApiKey(key, { maxAgeMs, address: getCallerAddress(req) });
};

const authorizeApiKey = async (
  authorizer: RequestAuthorizer,
  { scope, maxAgeMs }: { scope: string; maxAgeMs: number },
  req: Request,
  res: Response,
): Promise<Caller> => {
  const addressBucket = createAddressBucket(authorizer, req);
  const key = req.get("x-api-key");
  const cachedCaller =
    key === undefined ? undefined : authorizer.identity.findCachedApiKeyCaller(key, maxAgeMs);
  if (cachedCaller !== undefined) {
    await takeTokens(authorizer, res, [createKeyBucket(authorizer, cachedCaller), addressBucket]);
    return requireAccess(cachedCaller, scope, req);
  }
  await takeTokens(authorizer, res, [addressBucket]);
  const caller = await authenticateApiKey(authorizer, maxAgeMs, req);
  await takeTokens(authorizer, res, [createKeyBucket(authorizer, caller)]);
  return requireAccess(caller, scope, req);
};

/**
 * Returns the caller's IP address, or undefined if it is unusable. A proxy can send any text, and a
 * zone such as `%eth0` is meaningless on other hosts.
 */
const getCallerAddress = ({ ip = "" }: Request): string | undefined =>
  isIP(ip) === 0 || ip.includes("%") ? undefined : ip;

const requireAccess = (caller: Caller, scope: string, req: Request): Caller => {
  const { credential } = caller;
  if (!isFromAllowedNetwork(credential, req.ip ?? ""))
    throw createApiError("API_KEY_ADDRESS_REFUSED");
  if (!credential.scopes.includes(scope)) throw createApiError("INSUFFICIENT_API_SCOPE");
  return caller;
};

/** Built once per introspection result. Results are cached for a few seconds. */
const networksByCredential = new WeakMap<Caller["credential"], BlockList>();

const isFromAllowedNetwork = (credential: Caller["credential"], address: string): boolean => {
  const { cidrs } = credential;
  if (cidrs === undefined) return true;
  const allowedNetworks = networksByCredential.get(credential) ?? createNetworkList(cidrs);
  networksByCredential.set(credential, allowedNetworks);
  return isInNetworks(allowedNetworks, address);
};

/** Creates the bucket of a request's source address, by default with the default limit. */
export const createAddressBucket = (
  { limits }: Pick<RequestAuthorizer, "limits">,
  req: Request,
  routeLimit?: RouteLimit,
): Bucket => ({
  policy: routeLimit?.policy ?? "ip",
  id: addressBucketId(req.ip ?? ""),
  limit: getAddressLimit(limits.perAddress, routeLimit),
});

const getAddressLimit = (perAddress: Limit, routeLimit: RouteLimit | undefined): Limit => {
  if (routeLimit === undefined) return perAddress;
  if ("limit" in routeLimit) return routeLimit.limit;
  const { factor } = routeLimit;
  return {
    tokensPerSecond: perAddress.tokensPerSecond * factor,
    burst: Math.max(1, Math.floor(perAddress.burst * factor)),
  };
};

const createKeyBucket = ({ limits }: RequestAuthorizer, { credential }: Caller): Bucket => ({
  policy: "key",
  id: credential.bucketId,
  limit: getCredentialLimit(credential, limits.perKey) ?? limits.perKey,
});

/** Built once per introspection result. Results are cached for a few seconds. */
const limitsByCredential = new WeakMap<Caller["credential"], Limit>();

/** Returns a key's own limit (rule API-25), capped at the installation's current limit. */
const getCredentialLimit = (credential: Caller["credential"], perKey: Limit): Limit | undefined => {
  const { requestsPerMinute = Infinity, burst = Infinity } = credential;
  if (requestsPerMinute === Infinity && burst === Infinity) return undefined;
  const credentialLimit = limitsByCredential.get(credential) ?? {
    tokensPerSecond: Math.min(requestsPerMinute / 60, perKey.tokensPerSecond),
    burst: Math.min(burst, perKey.burst),
  };
  limitsByCredential.set(credential, credentialLimit);
  return credentialLimit;
};

/**
 * Takes a token from each bucket, or throws a 429 and takes none. Sets the headers of the limits.
 */
export const takeTokens = async (
  authorizer: Pick<RequestAuthorizer, "limiter">,
  res: Response,
  buckets: readonly Bucket[],
): Promise<void> => {
  const result = authorizer.limiter.take(buckets);
  const decision: Decision = result instanceof Promise ? await result : result;
  const headers = rateLimitHeaders(buckets, decision);
  for (const name in headers) {
    const value = headers[name] ?? "";
    const earlierValue = res.getHeader(name);
    // A request with an unknown key takes tokens in two steps. The headers list both buckets.
    res.setHeader(name, typeof earlierValue === "string" ? `${value}, ${earlierValue}` : value);
  }
  if (!decision.isAllowed) throw createApiError("429");
};
