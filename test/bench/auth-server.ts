import type { Request, Response } from "express";
import { Pool } from "pg";
import { createCookiePolicy, createApp, keyRoute, listen, publicRoute } from "@payment-links/http";
import { createIdentity } from "@payment-links/identity";
import { type Limiter, createRedisLimiter } from "@payment-links/rate-limit";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { createKeyIntrospection } from "../rig/create-key-introspection.ts";
import { floorOwner } from "./floor-statements.ts";

// Serves one handler with the setup that every service uses. `GATE` selects the variant:
// - `redis`: API key authorization, with rate limits in Redis
// - `none`: a public route without authorization and rate limits
//
// The handler is a minimal version of the cheaper of the two routes that require an API key. It
// lists an owner's ten newest links with one prepared query and responds in one write.
// `HANDLER=memory` responds from memory, which shows the cost of authorization for a handler that
// does almost no work.
const { env } = process;
const isFloor = env["GATE"] === "none";
const log = createLog({ service: "bench", level: "warn" });
const metrics = createMetrics("bench");
const limit = { tokensPerSecond: 900_000, burst: 900_000 };

const pool = new Pool({ connectionString: env["LINKS_API_URL"], max: Number(env["CONNECTIONS"]) });
const listLinks = async (): Promise<string> => {
  const text = "SELECT * FROM links WHERE user_id = $1 ORDER BY created_at DESC, seq DESC LIMIT 10";
  const { rows } = await pool.query({ name: "list", text, values: [floorOwner] });
  return JSON.stringify({ data: rows });
};
const cachedList = await listLinks();

const sendLinks = async (_req: Request, res: Response): Promise<void> => {
  const text = env["HANDLER"] === "memory" ? cachedList : await listLinks();
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Cache-Control", "no-store");
  res.end(text);
};

const route = { method: "get", path: "/links", handle: sendLinks } as const;

/** A cached key is introspected at auth-keys once every five seconds. */
const introspect = createKeyIntrospection([env["API_KEY"] ?? ""]);

/** A limiter for the baseline. It allows everything without counting. */
const unlimitedLimiter: Limiter = {
  take: () => ({
    isAllowed: true,
    states: [{ isAllowed: true, remaining: 1, retryAfterMs: 0, fullInMs: 0 }],
  }),
  close: async () => {},
};

const createCountingLimiter = () =>
  createRedisLimiter({
    url: env["REDIS_URL"] ?? "",
    secret: "of this bench",
    clock: systemClock,
    replicas: 1,
    metrics,
    log,
  });

const app = createApp({
  routes: [isFloor ? publicRoute(route) : keyRoute({ ...route, scope: "payment_link:read" })],
  authorizer: {
    limiter: isFloor ? unlimitedLimiter : createCountingLimiter(),
    limits: { perKey: limit, perAddress: limit },
    identity: createIdentity({
      requestIntrospection: introspect,
      clock: systemClock,
      metrics,
      log,
    }),
    cookie: createCookiePolicy("http://127.0.0.1"),
  },
  trustedProxies: [],
  log,
  metrics,
});
await listen({ handler: app, host: "127.0.0.1", port: Number(env["PORT"]), portVariable: "PORT" });
process.stdout.write("listening\n");
process.on("SIGTERM", () => process.exit(0));
