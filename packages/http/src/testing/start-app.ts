import { type IntrospectionResponse, hashSecret } from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import { type RequestIntrospection, createIdentity } from "@payment-links/identity";
import { type Limit, type Limiter, createLocalLimiter } from "@payment-links/rate-limit";
import { type FakeClock, createFakeClock, createLog, createMetrics } from "@payment-links/runtime";
import { createApp } from "../app.ts";
import { listen } from "../listen.ts";
import type { Route } from "../route.ts";
import { createCookiePolicy } from "../session-cookie.ts";

type StartAppOptions = {
  routes: readonly Route[];
  perKey?: Limit;
  perAddress?: Limit;
  trustedProxies?: readonly string[];
  baseUrl?: string;
  /** The callers' credentials, keyed by secret. */
  credentials?: Readonly<Record<string, TestCredential>>;
  logLevel?: string;
  /** What each request to auth-keys waits for. */
  waitForAuthKeys?: () => Promise<void>;
};

export type TestCredential = {
  scopes?: readonly string[];
  bucketId?: string;
  expiresAt?: Date;
  cidrs?: readonly string[];
  requestsPerMinute?: number;
  burst?: number;
};

export type StartedApp = {
  port: number;
  clock: FakeClock;
  /** How often the fake auth-keys was called. */
  getIntrospectionCount: () => number;
  /** The caller addresses that were sent to auth-keys together with a key. */
  reportedAddresses: (string | undefined)[];
  /** Makes every later auth-keys request fail. */
  stopAuthKeys: () => void;
  /** Makes auth-keys report this credential as unknown. */
  removeCredential: (secret: string) => void;
  /** The buckets of each limiter call, one entry per call. */
  requestedBuckets: string[][];
  logLines: string[];
  metrics: ReturnType<typeof createMetrics>;
  close(): Promise<void>;
};

const ampleLimit: Limit = { tokensPerSecond: 1000, burst: 1000 };

/** Starts an app on its own port, with a real server, real buckets and a fake auth-keys. */
export const startApp = async (options: StartAppOptions): Promise<StartedApp> => {
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = createMetrics("test");
  const logLines: string[] = [];
  const log = createLog(
    { service: "test", level: options.logLevel ?? "debug" },
    { write: (line) => void logLines.push(line) },
  );
  const responseByHash = new Map<string, IntrospectionResponse>();
  for (const [secret, credential] of Object.entries(options.credentials ?? {})) {
    responseByHash.set(hashSecret(secret).toString("hex"), toIntrospectionResponse(credential));
  }
  let introspectionCount = 0;
  const reportedAddresses: (string | undefined)[] = [];
  let isAuthKeysStopped = false;
  const stopAuthKeys = () => void (isAuthKeysStopped = true);
  const removeCredential = (secret: string) =>
    void responseByHash.delete(hashSecret(secret).toString("hex"));
  const requestIntrospection: RequestIntrospection = async ({ hash, address }) => {
    introspectionCount += 1;
    reportedAddresses.push(address);
    await options.waitForAuthKeys?.();
    if (isAuthKeysStopped) throw new Error("connect ECONNREFUSED");
    return responseByHash.get(hash) ?? { found: false };
  };
  const requestedBuckets: string[][] = [];
  const app = createApp({
    routes: options.routes,
    authorizer: {
      limiter: recordBuckets(createLocalLimiter({ clock }), requestedBuckets),
      limits: {
        perKey: options.perKey ?? ampleLimit,
        perAddress: options.perAddress ?? ampleLimit,
      },
      identity: createIdentity({ requestIntrospection, clock, metrics, log }),
      cookie: createCookiePolicy(options.baseUrl ?? "http://127.0.0.1"),
    },
    trustedProxies: options.trustedProxies ?? [],
    log,
    metrics,
  });
  const { port, close } = await listen({
    handler: app,
    host: "127.0.0.1",
    port: 0,
    portVariable: "PORT",
  });
  const getIntrospectionCount = () => introspectionCount;
  return {
    port,
    clock,
    getIntrospectionCount,
    reportedAddresses,
    stopAuthKeys,
    removeCredential,
    requestedBuckets,
    logLines,
    metrics,
    close,
  };
};

const recordBuckets = (limiter: Limiter, requestedBuckets: string[][]): Limiter => ({
  ...limiter,
  take: (buckets) => {
    requestedBuckets.push(buckets.map(({ policy, id }) => `${policy} ${id}`));
    return limiter.take(buckets);
  },
});

const account = createSampleAccount({ id: "user_1", dateCreated: new Date(0) });

const toIntrospectionResponse = ({
  scopes,
  bucketId,
  expiresAt,
  cidrs,
  ...credentialLimit
}: TestCredential): IntrospectionResponse => ({
  found: true,
  account,
  credential: {
    id: "key_1",
    bucketId: bucketId ?? "bucket_1",
    scopes: [...(scopes ?? [])],
    expiresAt: expiresAt ?? null,
    ...(cidrs === undefined ? {} : { cidrs: [...cidrs] }),
    ...credentialLimit,
  },
});
