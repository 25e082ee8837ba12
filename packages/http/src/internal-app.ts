import { createHash, timingSafeEqual } from "node:crypto";
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from "express";
import { refuse } from "@payment-links/contracts";
import { type Log, type Metrics, exposeMetrics, metricsContentType } from "@payment-links/runtime";
import { answerRefusal, refusalOf } from "./answer-error.ts";
import type { Method } from "./route.ts";

/** What other services and operators call under `/internal/…`, which no ingress reaches. */
export type InternalRoute = {
  method: Method;
  path: `/internal/${string}`;
  handle: (req: Request, res: Response) => Promise<void> | void;
};

export type InternalAppOptions = {
  services: readonly {
    metrics: Metrics;
    internalRoutes: readonly InternalRoute[];
    isReady: () => Promise<boolean>;
  }[];
  /** What is told of the process itself, where it runs several services. */
  processMetrics?: readonly Metrics[];
  isDraining: () => boolean;
  /** Required as a bearer by `/internal/…` wherever the address is not a loopback one. */
  token?: string;
  /** The host names by which this process may be called. */
  hostNames: readonly string[];
  log: Log;
};

/** Builds the internal face of a process: health, metrics, and the internal calls (interfaces §2). */
export const createInternalApp = (options: InternalAppOptions): Express => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.get("/livez", (_req, res) => void res.type("text").send("ok\n"));
  app.get("/readyz", async (_req, res) => {
    const isReady = !options.isDraining() && (await allReady(options));
    res
      .status(isReady ? 200 : 503)
      .type("text")
      .send(isReady ? "ready\n" : "not ready\n");
  });
  app.get("/metrics", async (_req, res) => {
    const own = options.services.map((service) => service.metrics);
    const text = await exposeMetrics([...own, ...(options.processMetrics ?? [])]);
    res.setHeader("Content-Type", metricsContentType);
    res.send(text);
  });
  for (const route of options.services.flatMap((service) => service.internalRoutes)) {
    app[route.method](route.path, serveInternal(options, route));
  }
  app.use((_req, res) => answerRefusal(refuse("NOT_FOUND"), res));
  app.use(answerStrayError(options.log));
  return app;
};

const allReady = async ({ services, log }: InternalAppOptions): Promise<boolean> => {
  try {
    return (await Promise.all(services.map((service) => service.isReady()))).every(Boolean);
  } catch (error) {
    log.warn({ err: error }, "a readiness check failed");
    return false;
  }
};

const serveInternal =
  (options: InternalAppOptions, route: InternalRoute) => async (req: Request, res: Response) => {
    try {
      refuseStrangers(options, req);
      await route.handle(req, res);
    } catch (error) {
      answerError(options.log, error, route.path, res);
    }
  };

const answerError = (log: Log, error: unknown, route: string, res: Response): void => {
  const refusal = refusalOf(error) ?? refuse("INTERNAL_ERROR");
  if (refusal.status >= 500) log.error({ err: error, route }, "an internal call failed");
  if (!res.headersSent) answerRefusal(refusal, res);
  else if (!res.writableEnded) res.destroy();
};

const answerStrayError =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _req: Request, res: Response, _next) =>
    answerError(log, error, "unmatched", res);

/** A browser, or a name that was rebound to this address, is no operator. */
const refuseStrangers = ({ token, hostNames }: InternalAppOptions, req: Request): void => {
  const { origin, host = "", "sec-fetch-site": site, authorization = "" } = req.headers;
  const hostName = host.replace(/:\d+$/, "").toLowerCase();
  if (origin !== undefined || site !== undefined || !hostNames.includes(hostName)) {
    throw refuse("FORBIDDEN");
  }
  if (token !== undefined && !isSame(authorization, `Bearer ${token}`)) {
    throw refuse("UNAUTHENTICATED");
  }
};

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
