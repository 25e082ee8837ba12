import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { Redis } from "ioredis";
import { Pool } from "pg";
import { cookiePolicy, createApp, keyRoute, listen, publicRoute } from "@payment-links/http";
import { createIdentity } from "@payment-links/identity";
import { type Limiter, createLocalLimiter, createRedisLimiter } from "@payment-links/rate-limit";
import { takeScript } from "@payment-links/rate-limit/take-script";
import { openLog, openMetrics, systemClock } from "@payment-links/runtime";
import { askForKeys } from "../rig/ask-for-keys.ts";
import { floorOwner } from "./floor-statements.ts";

// One handler in the shell that every service has: behind key check and limits counted in Redis or
// in process (`GATE`), or open to anyone and uncounted, or that and Redis asked by its bare client (`bare`). The handler does what the cheaper of the
// two keyed routes does, and less around it: it lists an owner's ten newest links by one prepared
// select, and answers in one write. `HANDLER=memory` answers the same without a query, as no real
// route can: it shows what the gate costs beside next to nothing.
const { env } = process;
const gate = env["GATE"] ?? "";
const log = openLog({ service: "bench", level: "warn" });
const metrics = openMetrics("bench");
const limit = { tokensPerSecond: 900_000, burst: 900_000 };

const pool = new Pool({ connectionString: env["LINKS_API_URL"], max: Number(env["CONNECTIONS"]) });
const listLinks = async (): Promise<string> => {
  const text = "SELECT * FROM links WHERE user_id = $1 ORDER BY created_at DESC, seq DESC LIMIT 10";
  const { rows } = await pool.query({ name: "list", text, values: [floorOwner] });
  return JSON.stringify({ data: rows });
};
const found = await listLinks();

const answer = async (_req: Request, res: Response): Promise<void> => {
  const text = env["HANDLER"] === "memory" ? found : await listLinks();
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Cache-Control", "no-store");
  res.end(text);
};

/** Asks the limiter's script what a request of one key and one address asks. */
const openBareRedis = async () => {
  const redis = new Redis(env["REDIS_URL"] ?? "");
  await redis.script("LOAD", takeScript);
  const sha = createHash("sha1").update(takeScript).digest("hex");
  const bucket = [1, limit.burst, 0];
  return () => redis.evalsha(sha, 2, "{bare}:key", "{bare}:ip", 1, 2, ...bucket, ...bucket);
};
const askRedis = gate === "bare" ? await openBareRedis() : undefined;
const askAndAnswer = async (req: Request, res: Response): Promise<void> => {
  await askRedis?.();
  await answer(req, res);
};

const gated = keyRoute({
  method: "get",
  path: "/links",
  scope: "payment_link:read",
  handle: answer,
});
const open = publicRoute({
  method: "get",
  path: "/links",
  handle: gate === "bare" ? askAndAnswer : answer,
});

/** auth-keys is asked about a warm key once in five seconds. */
const ask = askForKeys([env["API_KEY"] ?? ""]);

/** Counts nothing and allows all, for the floor. */
const uncounted: Limiter = {
  take: () => ({
    isAllowed: true,
    states: [{ isAllowed: true, remaining: 1, retryAfterMs: 0, fullInMs: 0 }],
  }),
  close: async () => {},
};
const isFloor = gate === "none" || gate === "bare";

const countingLimiter = () =>
  gate === "redis"
    ? createRedisLimiter({
        url: env["REDIS_URL"] ?? "",
        secret: "of this bench",
        clock: systemClock,
        replicas: 1,
        metrics,
        log,
      })
    : createLocalLimiter({ clock: systemClock, metrics });

const app = createApp({
  routes: [isFloor ? open : gated],
  gate: {
    limiter: isFloor ? uncounted : countingLimiter(),
    limits: { perKey: limit, perAddress: limit },
    identity: createIdentity({ ask, clock: systemClock, metrics, log }),
    cookie: cookiePolicy("http://127.0.0.1"),
  },
  trustedProxies: [],
  log,
  metrics,
});
await listen({ handler: app, host: "127.0.0.1", port: Number(env["PORT"]), variable: "PORT" });
process.stdout.write("listening\n");
process.on("SIGTERM", () => process.exit(0));
