import { randomUUID } from "node:crypto";
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from "express";
import { type ApiError, type ApiErrorCode, createApiError } from "@payment-links/contracts";
import { IdentityUnavailable } from "@payment-links/identity";
import { type Log, type Metrics, joinTraceById } from "@payment-links/runtime";
import { type RequestAuthorizer, authorizeRequest } from "./authorize-request.ts";
import { sendApiError, toApiError } from "./send-api-error.ts";
import {
  clientClosedRequestStatus,
  createRequestTimer,
  type RequestTimer,
} from "./request-metrics.ts";
import type { Method, Route } from "./route.ts";
import { runInServerSpan } from "./server-span.ts";
import { parseTrustedProxies } from "./trusted-proxies.ts";
import { createUntrustedProxyWarning } from "./untrusted-proxy-warning.ts";
import { defaultHeaders } from "./default-headers.ts";

export type AppOptions = {
  routes: readonly Route[];
  /** How an address where nothing is is answered; with the error envelope if not given. */
  sendNotFound?: Route["sendApiError"] | undefined;
  authorizer: RequestAuthorizer;
  /** CIDRs whose `X-Forwarded-For` is believed; none by default. */
  trustedProxies: readonly string[];
  log: Log;
  metrics: Metrics;
};

/**
 * Builds a service's public HTTP face from its route table. It does not listen yet. Each request
 * gets an id, a span and a place in the metrics, is admitted, handled, and answered exactly once.
 */
export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("trust proxy", parseTrustedProxies(options.trustedProxies));
  const isTrusted: (address: string, hop: number) => boolean = app.get("trust proxy fn");
  app.use(createUntrustedProxyWarning(options.log, (address) => isTrusted(address, 0)));
  const timer = createRequestTimer(options.metrics);
  const { sendNotFound = sendPlainError } = options;
  for (const route of options.routes) {
    app[route.method](route.path, serveRoute(options, timer, route));
  }
  for (const [path, methods] of groupMethodsByPath(options.routes)) {
    const anyOriginRoutes = options.routes.filter(
      (route) => route.path === path && route.isForAnyOrigin,
    );
    if (anyOriginRoutes.length > 0)
      app.options(path, sendPreflight(options, timer, { path, methods }));
    // What lies below a catch-all has methods that it does not know.
    if (path.includes("*")) continue;
    app.all(path, rejectMethod(options, timer, { path, methods }));
  }
  app.use((req, res) => {
    timer.start(req, res, "unmatched");
    startResponse(options, res);
    sendNotFound(createApiError("NOT_FOUND"), req, res);
  });
  app.use(sendUnhandledError(options, timer));
  return app;
};

/** Just over the time that one statement of the database may take. */
const defaultResponseMsMax = 5_500;

/** A caller waited for as long as a route lets it. What was begun goes on; nobody hears its answer. */
class ResponseTimeoutError extends Error {
  override readonly name = "ResponseTimeoutError";
}

const serveRoute = (options: AppOptions, timer: RequestTimer, route: Route) => {
  const unexpectedError = route.unexpectedError ?? "INTERNAL_ERROR";
  return async (req: Request, res: Response): Promise<void> => {
    const recordRequest = timer.start(req, res, route.path);
    const requestId = startResponse(options, res);
    // A refusal as well: otherwise a page would hear of none.
    if (route.isForAnyOrigin === true) res.setHeader("Access-Control-Allow-Origin", "*");
    const parent = joinTraceById(req.get("traceparent"));
    await runInServerSpan({ req, res, route, parent }, async () => {
      try {
        await respondWithinTimeout(req, route, async () => {
          const caller = await authorizeRequest(options.authorizer, route, req, res);
          await route.handle(req, res, caller);
        });
        if (route.isEndless === true && !res.closed) recordRequest();
      } catch (error) {
        sendError(options, { error, unexpectedError, route, requestId }, req, res);
      }
      const logFields = { request_id: requestId, route: route.path, status: res.statusCode };
      options.log.debug(logFields, "a request was answered");
    });
  };
};

/** How long after its last byte a request is seen to be whole. */
const completionPollMs = 50;

/** The time that a client takes to send its request is not ours; the server bounds it. */
const respondWithinTimeout = async (
  req: Request,
  { responseMsMax = defaultResponseMsMax }: Route,
  handle: () => Promise<void>,
): Promise<void> => {
  const timeout = Promise.withResolvers<never>();
  const rejectWithTimeout = () =>
    timeout.reject(new ResponseTimeoutError(`there is no answer after ${responseMsMax} ms`));
  const checkCompletion = () => {
    timer = req.complete
      ? setTimeout(rejectWithTimeout, responseMsMax)
      : setTimeout(checkCompletion, completionPollMs);
  };
  // Mostly it is answered by then.
  let timer = setTimeout(checkCompletion, completionPollMs);
  try {
    await Promise.race([handle(), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Gives the request an id, which its answer and its log lines carry, and the answer what holds for
 * every one of ours.
 */
const startResponse = ({ authorizer }: AppOptions, res: Response): string => {
  const requestId = randomUUID();
  res.setHeader("X-Request-Id", requestId);
  res.set(defaultHeaders);
  // The cookie's policy knows whether browsers reach us by https.
  if (authorizer.cookie.isSecure)
    res.setHeader("Strict-Transport-Security", strictTransportSecurity);
  return requestId;
};

/** A year, for this host alone: what else the domain serves is not ours to decide. */
const strictTransportSecurity = "max-age=31536000";

type RequestFailure = {
  error: unknown;
  unexpectedError: ApiErrorCode;
  route?: Route;
  requestId: string;
};

const sendError = (
  { log, sendNotFound = sendPlainError }: AppOptions,
  { error, unexpectedError, route, requestId }: RequestFailure,
  req: Request,
  res: Response,
): void => {
  const knownError = toApiError(error);
  const isDependencyFailure =
    error instanceof IdentityUnavailable || error instanceof ResponseTimeoutError;
  const isUnavailable = isDependencyFailure && unexpectedError === "INTERNAL_ERROR";
  const apiError =
    knownError ?? createApiError(isUnavailable ? "SERVICE_UNAVAILABLE" : unexpectedError);
  const isServerError = knownError === undefined || apiError.status >= 500;
  const logFields = { request_id: requestId, route: route?.path, status: apiError.status };
  // Whatever else fails is ours, and told although nobody waits for the answer.
  const isUndeliverable = knownError !== undefined && res.closed && !res.headersSent;
  if (isUndeliverable || (req.destroyed && !req.complete)) {
    log.debug({ ...logFields, codes: knownError?.message }, "a client went away");
    if (!res.headersSent) res.statusCode = clientClosedRequestStatus;
    res.destroy();
    return;
  }
  if (isServerError) log.error({ ...logFields, err: error }, "a request failed");
  else log.debug({ ...logFields, codes: apiError.message }, "a request was refused");
  if (res.headersSent) {
    // Half an answer must not look whole. A whole answer stands, even if something failed after it.
    if (!res.writableEnded) res.destroy();
    return;
  }
  const send = route === undefined ? sendNotFound : (route.sendApiError ?? sendPlainError);
  send(apiError, req, res);
};

const sendPlainError = (apiError: ApiError, _req: Request, res: Response): void =>
  sendApiError(apiError, res);

const sendUnhandledError =
  (options: AppOptions, timer: RequestTimer): ErrorRequestHandler =>
  (error: unknown, req: Request, res: Response, _next) => {
    timer.start(req, res, "unmatched");
    const requestFailure = {
      error,
      unexpectedError: "INTERNAL_ERROR",
      requestId: startResponse(options, res),
    } as const;
    sendError(options, requestFailure, req, res);
  };

const groupMethodsByPath = (routes: readonly Route[]): Map<string, Method[]> => {
  const paths = new Map<string, Method[]>();
  for (const { path, method } of routes) paths.set(path, [...(paths.get(path) ?? []), method]);
  return paths;
};

const preflightSecondsMax = "86400";

/** Tells a browser what pages of other origins may ask. It asks before each call with a JSON body. */
const sendPreflight =
  (
    options: AppOptions,
    timer: RequestTimer,
    { path, methods }: { path: string; methods: readonly Method[] },
  ) =>
  (req: Request, res: Response): void => {
    timer.start(req, res, path);
    startResponse(options, res);
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader(
      "Access-Control-Allow-Methods",
      methods.map((method) => method.toUpperCase()).join(", "),
    );
    res.setHeader("Access-Control-Allow-Headers", "Content-Type, Accept-Language");
    res.setHeader("Access-Control-Max-Age", preflightSecondsMax);
    res.status(204).end();
  };

const rejectMethod = (
  options: AppOptions,
  timer: RequestTimer,
  { path, methods }: { path: string; methods: readonly Method[] },
) => {
  const methodNames = methods.map((method) => method.toUpperCase());
  const allowedMethods = methodNames.includes("GET")
    ? ["GET", "HEAD", ...methodNames.filter((methodName) => methodName !== "GET")]
    : methodNames;
  return (req: Request, res: Response): void => {
    timer.start(req, res, path);
    startResponse(options, res);
    res.setHeader("Allow", allowedMethods.join(", "));
    sendApiError(createApiError("METHOD_NOT_ALLOWED"), res);
  };
};
