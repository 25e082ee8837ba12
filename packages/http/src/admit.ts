import { type BlockList, isIP } from "node:net";
import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import type { Caller, Identity } from "@payment-links/identity";
import {
  type Bucket,
  type Decision,
  type Limit,
  type Limiter,
  addressBucketId,
  rateLimitHeaders,
} from "@payment-links/rate-limit";
import { isInNetworks, networksOf } from "./networks.ts";
import { awaitBody } from "./read-request.ts";
import type { Method, OwnLimit, Route } from "./route.ts";
import { type CookiePolicy, readSessionToken, refuseOtherSites } from "./session-cookie.ts";

/** What decides whether a request may go on. */
export type Gate = {
  limiter: Limiter;
  limits: { perKey: Limit; perAddress: Limit };
  identity: Identity;
  cookie: CookiePolicy;
};

/** How old an answer about the caller of what writes may be: it may decide where money goes. */
export const writeFreshMs = 1_000;
const readFreshMs = 5_000;

/** How old an answer about the caller of such a route may be (rule CALLER-3). */
const freshMsOf = (method: Method): number => (method === "get" ? readFreshMs : writeFreshMs);

/**
 * Holds a request against the limits, then its caller, then the scope, in that order (rule API-18),
 * and answers the caller. A warm key costs one question to the limiter for both buckets. An unknown
 * key pays from its address's bucket first (rule API-22).
 */
export const admit = async (
  gate: Gate,
  route: Route,
  req: Request,
  res: Response,
): Promise<Caller | undefined> => {
  const caller = await letIn(gate, route, req, res);
  if (caller === undefined || route.method === "get" || req.complete) return caller;
  // A body may come half a minute after its head, and much may have ended until then.
  await awaitBody(req);
  return findCaller(gate, route, req);
};

const letIn = async (
  gate: Gate,
  route: Route,
  req: Request,
  res: Response,
): Promise<Caller | undefined> => {
  const { caller: rule, method, ownLimit } = route;
  if (rule.by === "api-key") {
    return admitKey(gate, { scope: rule.scope, freshMs: freshMsOf(method) }, req, res);
  }
  await charge(gate, res, [addressBucket(gate, req, ownLimit)]);
  return findCaller(gate, route, req);
};

/** Tells who calls, if they may call such a route. */
const findCaller = async (
  gate: Gate,
  { caller: rule, method, needsPresence = false }: Route,
  req: Request,
): Promise<Caller | undefined> => {
  if (rule.by === "anyone") return undefined;
  const freshMs = freshMsOf(method);
  if (rule.by === "api-key") return withAccess(await findKey(gate, freshMs, req), rule.scope, req);
  refuseOtherSites(req, gate.cookie);
  const token = readSessionToken(req, gate.cookie);
  if (token === undefined) throw refuse("UNAUTHENTICATED");
  return gate.identity.bySession(token, { freshMs, needsPresence });
};

const findKey = async ({ identity }: Gate, freshMs: number, req: Request): Promise<Caller> => {
  const key = req.get("x-api-key");
  if (key === undefined || key === "") throw refuse("UNAUTHENTICATED");
  return identity.byApiKey(key, { freshMs, address: callersAddress(req) });
};

const admitKey = async (
  gate: Gate,
  { scope, freshMs }: { scope: string; freshMs: number },
  req: Request,
  res: Response,
): Promise<Caller> => {
  const address = addressBucket(gate, req);
  const key = req.get("x-api-key");
  const known = key === undefined ? undefined : gate.identity.knownApiKey(key, freshMs);
  if (known !== undefined) {
    await charge(gate, res, [keyBucket(gate, known), address]);
    return withAccess(known, scope, req);
  }
  await charge(gate, res, [address]);
  const caller = await findKey(gate, freshMs, req);
  await charge(gate, res, [keyBucket(gate, caller)]);
  return withAccess(caller, scope, req);
};

/** A proxy may say anything, and a zone (`%eth0`) means nothing to anybody else. */
const callersAddress = ({ ip = "" }: Request): string | undefined =>
  isIP(ip) === 0 || ip.includes("%") ? undefined : ip;

const withAccess = (caller: Caller, scope: string, req: Request): Caller => {
  const { credential } = caller;
  if (!isFromWithin(credential, req.ip ?? "")) throw refuse("API_KEY_ADDRESS_REFUSED");
  if (!credential.scopes.includes(scope)) throw refuse("INSUFFICIENT_API_SCOPE");
  return caller;
};

/** Made once per answer about a key, which is kept for a while. */
const networks = new WeakMap<Caller["credential"], BlockList>();

const isFromWithin = (credential: Caller["credential"], address: string): boolean => {
  const { cidrs } = credential;
  if (cidrs === undefined) return true;
  const known = networks.get(credential) ?? networksOf(cidrs);
  networks.set(credential, known);
  return isInNetworks(known, address);
};

const addressBucket = ({ limits }: Gate, req: Request, ownLimit?: OwnLimit): Bucket => ({
  policy: ownLimit?.policy ?? "ip",
  id: addressBucketId(req.ip ?? ""),
  limit: limitOf(limits.perAddress, ownLimit),
});

const limitOf = (perAddress: Limit, ownLimit: OwnLimit | undefined): Limit => {
  if (ownLimit === undefined) return perAddress;
  if ("limit" in ownLimit) return ownLimit.limit;
  const { times } = ownLimit;
  return {
    tokensPerSecond: perAddress.tokensPerSecond * times,
    burst: Math.max(1, Math.floor(perAddress.burst * times)),
  };
};

const keyBucket = ({ limits }: Gate, { credential }: Caller): Bucket => ({
  policy: "key",
  id: credential.bucketId,
  limit: ownLimitOf(credential, limits.perKey) ?? limits.perKey,
});

/** Made once per answer about a key, which is kept for a while. */
const ownLimits = new WeakMap<Caller["credential"], Limit>();

/** A key's own limit (rule API-25). It never grants more than the installation does by now. */
const ownLimitOf = (credential: Caller["credential"], perKey: Limit): Limit | undefined => {
  const { requestsPerMinute = Infinity, burst = Infinity } = credential;
  if (requestsPerMinute === Infinity && burst === Infinity) return undefined;
  const own = ownLimits.get(credential) ?? {
    tokensPerSecond: Math.min(requestsPerMinute / 60, perKey.tokensPerSecond),
    burst: Math.min(burst, perKey.burst),
  };
  ownLimits.set(credential, own);
  return own;
};

const charge = async (gate: Gate, res: Response, buckets: readonly Bucket[]): Promise<void> => {
  const taken = gate.limiter.take(buckets);
  const decision: Decision = taken instanceof Promise ? await taken : taken;
  const headers = rateLimitHeaders(buckets, decision);
  for (const name in headers) {
    const value = headers[name] ?? "";
    const before = res.getHeader(name);
    // An unknown key is charged in two steps, and both buckets are told.
    res.setHeader(name, typeof before === "string" ? `${value}, ${before}` : value);
  }
  if (!decision.isAllowed) throw refuse("429");
};
