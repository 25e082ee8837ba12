import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from "express";
import { createApiError } from "@payment-links/contracts";
import {
  type Log,
  type Metrics,
  renderMetrics,
  metricsContentType,
  extractTraceContext,
} from "@payment-links/runtime";
import { sendApiError, toApiError } from "./send-api-error.ts";
import type { Method } from "./route.ts";
import { runInServerSpan } from "./server-span.ts";
import { defaultHeaders } from "./default-headers.ts";

/** A route under `/internal/…` for other services and operators. No ingress routes to it. */
export type InternalRoute = {
  method: Method;
  path: `/internal/${string}`;
  /**
   * Whether other services call the route with `INTERNAL_TOKEN`. Otherwise, only operators can call
   * it.
   */
  isForServices?: true;
  handle: (req: Request, res: Response) => Promise<void> | void;
};

export type InternalAppOptions = {
  services: readonly {
    name: string;
    metrics: Metrics;
    internalRoutes: readonly InternalRoute[];
    isReady: () => Promise<boolean>;
  }[];
  /** Metrics of the process itself, if it runs several services. */
  processMetrics?: readonly Metrics[];
  isDraining: () => boolean;
  /** Returns what the process waits for before it can start, or undefined once it has started. */
  getStartupWaitReason?: () => string | undefined;
  /** Returns why the process must be restarted, or undefined while it works. */
  getStallReason?: () => string | undefined;
  /**
   * The bearer tokens that `/internal/…` accepts from services and operators (rule OPS-2). If no
   * tokens are configured, which is allowed only on a loopback address, none are required.
   */
  tokens?: { services: readonly string[]; operators: readonly string[] };
  /** The host names that are accepted in the `Host` header. */
  hostNames: readonly string[];
  log: Log;
};

/** Paths that kubelets, load balancers and metrics scrapers request without a token. */
const probePaths = ["/livez", "/readyz", "/metrics"];

/** Builds the internal app of a process: health, metrics and internal routes (rule OPS-2). */
export const createInternalApp = (options: InternalAppOptions): Express => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(probePaths, rejectBrowsers(options));
  app.get("/livez", (_req, res) => {
    const reason = options.getStallReason?.();
    if (reason === undefined) return void res.type("text").send("ok\n");
    options.log.error({ reason }, "process stalled, restart it");
    res.status(503).type("text").send(`stalled: ${reason}\n`);
  });
  app.get("/readyz", createReadinessHandler(options));
  app.get("/metrics", async (_req, res) => {
    const serviceMetrics = options.services.map((service) => service.metrics);
    const text = await renderMetrics([...serviceMetrics, ...(options.processMetrics ?? [])]);
    res.setHeader("Content-Type", metricsContentType);
    res.send(text);
  });
  // Responses must not be cached, because they can contain a sign-in link.
  app.use((_req, res, next) => {
    res.set(defaultHeaders);
    next();
  });
  for (const route of options.services.flatMap((service) => service.internalRoutes)) {
    app[route.method](route.path, serveInternalRoute(options, route));
  }
  app.use((_req, res) => sendApiError(createApiError("NOT_FOUND"), res));
  app.use(sendUnhandledError(options.log));
  return app;
};

/** Probes time out after a few seconds, but waiting for a pooled connection can take longer. */
const checkTimeoutMs = 2_500;

/** Reports whether the process can take traffic, and if not, why. Logs each change once. */
const createReadinessHandler = (options: InternalAppOptions) => {
  let loggedReason: string | undefined;
  return async (_req: Request, res: Response): Promise<void> => {
    const { reason, error } = await findNotReadyReason(options);
    if (reason !== loggedReason) {
      if (reason === undefined) options.log.info("ready again");
      else
        options.log.warn({ reason, ...(error === undefined ? {} : { err: error }) }, "not ready");
      loggedReason = reason;
    }
    res
      .status(reason === undefined ? 200 : 503)
      .type("text")
      .send(reason === undefined ? "ready\n" : `not ready: ${reason}\n`);
  };
};

type ReadinessProblem = { reason?: string; error?: unknown };

const findNotReadyReason = async (options: InternalAppOptions): Promise<ReadinessProblem> => {
  if (options.isDraining()) return { reason: "draining" };
  const waitReason = options.getStartupWaitReason?.();
  if (waitReason !== undefined) return { reason: `waiting to start: ${waitReason}` };
  const checks = options.services.map(async ({ name, isReady }): Promise<ReadinessProblem> => {
    try {
      return (await withTimeout(checkTimeoutMs, isReady()))
        ? {}
        : { reason: `${name} is not ready` };
    } catch (error) {
      return { reason: `${name} cannot reach a dependency`, error };
    }
  });
  return (await Promise.all(checks)).find(({ reason }) => reason !== undefined) ?? {};
};

const withTimeout = async (timeoutMs: number, check: Promise<boolean>): Promise<boolean> => {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`no response within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await Promise.race([check, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

const serveInternalRoute =
  (options: InternalAppOptions, route: InternalRoute) => async (req: Request, res: Response) => {
    const parent = extractTraceContext(req.get("traceparent"));
    await runInServerSpan({ req, res, route, parent }, async () => {
      try {
        requireInternalCaller(options, route, req);
        await route.handle(req, res);
      } catch (error) {
        sendError(options.log, error, route.path, res);
      }
      options.log.debug(
        { route: route.path, status: res.statusCode },
        "internal request completed",
      );
    });
  };

const sendError = (log: Log, error: unknown, route: string, res: Response): void => {
  const apiError = toApiError(error) ?? createApiError("INTERNAL_ERROR");
  if (apiError.status >= 500) log.error({ err: error, route }, "internal request failed");
  if (!res.headersSent) sendApiError(apiError, res);
  else if (!res.writableEnded) res.destroy();
};

const sendUnhandledError =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _req: Request, res: Response, _next) =>
    sendError(log, error, "unmatched", res);

const noTokens = { services: [], operators: [] };

/** Returns whether a request has a header that only browsers send. */
const isFromBrowser = ({ headers }: Request): boolean =>
  headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;

/** Returns the host name of a request without the port, or an empty string if there is none. */
const getHostName = ({ headers: { host = "" } }: Request): string =>
  host.replace(/:\d+$/, "").toLowerCase();

const isIpAddress = (hostName: string): boolean =>
  isIP(hostName.replace(/^\[([\da-f:.]+)\]$/, "$1")) !== 0;

/**
 * Rejects requests to the probe paths from browsers and for unknown DNS names. Otherwise, a web
 * page could read them through DNS rebinding (rule OPS-11). Kubelets and Prometheus use a pod's IP
 * address as host, which is allowed because DNS rebinding always uses a name. A missing host is
 * allowed because some load balancers do not send one, but browsers always do.
 */
const rejectBrowsers =
  ({ hostNames }: InternalAppOptions) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const hostName = getHostName(req);
    const isKnownHost = hostName === "" || isIpAddress(hostName) || hostNames.includes(hostName);
    if (isKnownHost && !isFromBrowser(req)) next();
    else sendApiError(createApiError("FORBIDDEN"), res);
  };

/** Rejects browsers, unknown host names (DNS rebinding) and callers without a valid token. */
const requireInternalCaller = (
  { tokens = noTokens, hostNames }: InternalAppOptions,
  { isForServices }: InternalRoute,
  req: Request,
): void => {
  const { authorization = "" } = req.headers;
  if (isFromBrowser(req) || !hostNames.includes(getHostName(req)))
    throw createApiError("FORBIDDEN");
  if (tokens.services.length + tokens.operators.length === 0) return;
  const acceptedTokens = isForServices ? tokens.services : tokens.operators;
  if (!acceptedTokens.some((token) => isEqualConstantTime(authorization, `Bearer ${token}`))) {
    throw createApiError("UNAUTHENTICATED");
  }
};

const isEqualConstantTime = (a: string, b: string): boolean =>
  timingSafeEqual(sha256(a), sha256(b));

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
