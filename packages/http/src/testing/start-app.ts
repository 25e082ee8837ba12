import { type IntrospectionAnswer, hashSecret } from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import { type Ask, createIdentity } from "@payment-links/identity";
import { type Limit, type Limiter, createLocalLimiter } from "@payment-links/rate-limit";
import { type HeldClock, createHeldClock, openLog, openMetrics } from "@payment-links/runtime";
import { createApp } from "../app.ts";
import { listen } from "../listen.ts";
import type { Route } from "../route.ts";
import { cookiePolicy } from "../session-cookie.ts";

type Options = {
  routes: readonly Route[];
  perKey?: Limit;
  perAddress?: Limit;
  trustedProxies?: readonly string[];
  baseUrl?: string;
  /** Holders of credentials, by the credential in clear. */
  holders?: Readonly<Record<string, Holder>>;
  logLevel?: string;
};

export type Holder = {
  scopes?: readonly string[];
  bucketId?: string;
  expiresAt?: Date;
  cidrs?: readonly string[];
  requestsPerMinute?: number;
  burst?: number;
};

export type StartedApp = {
  port: number;
  clock: HeldClock;
  /** How often the stand-in for auth-keys was asked. */
  asked: () => number;
  /** From which addresses it was told that a key is used. */
  addresses: (string | undefined)[];
  /** From now on auth-keys answers nothing. */
  goAway: () => void;
  /** From now on auth-keys knows no such credential. */
  forget: (secret: string) => void;
  /** Which buckets the limiter was asked for, one entry per question. */
  charged: string[][];
  logged: string[];
  metrics: ReturnType<typeof openMetrics>;
  close(): Promise<void>;
};

const ample: Limit = { tokensPerSecond: 1000, burst: 1000 };

/** Starts an app on a port of its own: a real server, real buckets, and auth-keys as a function. */
export const startApp = async (options: Options): Promise<StartedApp> => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = openMetrics("test");
  const logged: string[] = [];
  const log = openLog(
    { service: "test", level: options.logLevel ?? "debug" },
    { write: (line) => void logged.push(line) },
  );
  const answers = new Map<string, IntrospectionAnswer>();
  for (const [secret, holder] of Object.entries(options.holders ?? {})) {
    answers.set(hashSecret(secret).toString("hex"), answerOf(holder));
  }
  let questions = 0;
  const addresses: (string | undefined)[] = [];
  let isAway = false;
  const goAway = () => void (isAway = true);
  const forget = (secret: string) => void answers.delete(hashSecret(secret).toString("hex"));
  const ask: Ask = async ({ hash, address }) => {
    questions += 1;
    addresses.push(address);
    if (isAway) throw new Error("connect ECONNREFUSED");
    return answers.get(hash) ?? { found: false };
  };
  const charged: string[][] = [];
  const app = createApp({
    routes: options.routes,
    gate: {
      limiter: spy(createLocalLimiter({ clock }), charged),
      limits: { perKey: options.perKey ?? ample, perAddress: options.perAddress ?? ample },
      identity: createIdentity({ ask, clock, metrics, log }),
      cookie: cookiePolicy(options.baseUrl ?? "http://127.0.0.1"),
    },
    trustedProxies: options.trustedProxies ?? [],
    log,
    metrics,
  });
  const { port, close } = await listen({
    handler: app,
    host: "127.0.0.1",
    port: 0,
    variable: "PORT",
  });
  const asked = () => questions;
  return { port, clock, asked, addresses, goAway, forget, charged, logged, metrics, close };
};

const spy = (limiter: Limiter, charged: string[][]): Limiter => ({
  ...limiter,
  take: (buckets) => {
    charged.push(buckets.map(({ policy, id }) => `${policy} ${id}`));
    return limiter.take(buckets);
  },
});

const account = sampleAccount({ id: "user_1", dateCreated: new Date(0) });

const answerOf = ({
  scopes,
  bucketId,
  expiresAt,
  cidrs,
  ...ownLimit
}: Holder): IntrospectionAnswer => ({
  found: true,
  account,
  credential: {
    id: "key_1",
    bucketId: bucketId ?? "bucket_1",
    scopes: [...(scopes ?? [])],
    expiresAt: expiresAt ?? null,
    ...(cidrs === undefined ? {} : { cidrs: [...cidrs] }),
    ...ownLimit,
  },
});
