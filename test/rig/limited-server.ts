import * as z from "zod";
import {
  createCookiePolicy,
  createApp,
  keyRoute,
  startListeners,
  serveConfig,
} from "@payment-links/http";
import { createIdentity } from "@payment-links/identity";
import { createRedisLimiter } from "@payment-links/rate-limit";
import {
  CommaList,
  RateLimit,
  createStopList,
  createLog,
  createMetrics,
  parseConfig,
  stopOnSignal,
  systemClock,
} from "@payment-links/runtime";
import { createKeyIntrospection } from "./create-key-introspection.ts";

// A process with the same setup, request authorization and Redis rate limits as every service, and
// one route that does nothing. A test therefore measures only these three parts.
const config = parseConfig(
  z
    .object({
      REDIS_URL: z.url(),
      RATE_LIMIT_REPLICAS: z.coerce.number().int(),
      /**
       * The default is the value in production. A test can raise it so that a busy machine does not
       * look like a slow Redis.
       */
      REDIS_ANSWER_MS: z.coerce.number().int().default(50),
      RATE_LIMIT_PER_KEY: RateLimit,
      RATE_LIMIT_PER_IP: RateLimit,
      API_KEYS: CommaList,
    })
    .and(serveConfig),
  process.env,
);
const log = createLog({ service: "limited", level: "info" });
const metrics = createMetrics("limited");
const stopList = createStopList();
stopOnSignal(stopList, log);
const limiter = createRedisLimiter({
  url: config.REDIS_URL,
  secret: "shared by this rig",
  replicas: config.RATE_LIMIT_REPLICAS,
  replyTimeoutMs: config.REDIS_ANSWER_MS,
  clock: systemClock,
  metrics,
  log,
});
stopList.add("limiter", () => limiter.close());
const requestIntrospection = createKeyIntrospection(config.API_KEYS);
const routes = [
  keyRoute({
    method: "get",
    path: "/limited",
    scope: "payment_link:read",
    handle: (_req, res) => void res.json({}),
  }),
];
const app = createApp({
  routes,
  authorizer: {
    limiter,
    limits: { perKey: config.RATE_LIMIT_PER_KEY, perAddress: config.RATE_LIMIT_PER_IP },
    identity: createIdentity({ requestIntrospection, clock: systemClock, metrics, log }),
    cookie: createCookiePolicy("http://127.0.0.1"),
  },
  trustedProxies: [],
  log,
  metrics,
});
const noop = async () => {};
const service = { name: "limited", metrics, app, publicRoutes: routes, internalRoutes: [] };
await startListeners({
  config,
  app,
  services: [{ ...service, isReady: async () => true, start: noop, stop: noop }],
  trustedProxies: [],
  stopList,
  clock: systemClock,
  log,
});
