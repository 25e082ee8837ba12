import { randomUUID } from "node:crypto";
import { parse as parseQueryString } from "node:querystring";
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
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
  /** Sends the response for an unknown path. Default: the error envelope. */
  sendNotFound?: Route["sendApiError"] | undefined;
  authorizer: RequestAuthorizer;
  /** CIDRs whose `X-Forwarded-For` header is trusted. Default: none. */
  trustedProxies: readonly string[];
  log: Log;
  metrics: Metrics;
};

/** More parameters are ignored, because parsing 16 KB of invalid encodings takes 20 ms. */
const queryParametersMax = 50;

const preferenceHeaders = ["accept", "accept-encoding", "accept-language"] as const;
const preferenceLengthMax = 500;

/**
 * Drops headers of preferences that no browser sends, because parsing 16 KB of them takes 19 ms,
 * even for a rate-limited request.
 */
const dropLongPreferences: RequestHandler = ({ headers }, _res, next) => {
  for (const name of preferenceHeaders)
    if ((headers[name]?.length ?? 0) > preferenceLengthMax) delete headers[name];
  next();
};

/**
 * Builds a service's public HTTP app from its route table, without listening. The app gives each
 * request an id, a span and metrics, authorizes it, and sends exactly one response.
 */
export const createApp = (options: AppOptions): Express => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", (text: string) =>
    parseQueryString(text, "&", "=", { maxKeys: queryParametersMax }),
  );
  app.set("trust proxy", parseTrustedProxies(options.trustedProxies));
  const isTrusted: (address: string, hop: number) => boolean = app.get("trust proxy fn");
  app.use(createUntrustedProxyWarning(options.log, (address) => isTrusted(address, 0)));
  app.use(dropLongPreferences);
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
    // Other routes below a catch-all path can have methods that the catch-all does not list.
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

/** Slightly longer than the timeout of one database statement. */
const defaultResponseMsMax = 5_500;

/**
 * The response took longer than its route allows. The handler continues, but its response is
 * discarded.
 */
class ResponseTimeoutError extends Error {
  override readonly name = "ResponseTimeoutError";
}

const serveRoute = (options: AppOptions, timer: RequestTimer, route: Route) => {
  const unexpectedError = route.unexpectedError ?? "INTERNAL_ERROR";
  return async (req: Request, res: Response): Promise<void> => {
    const recordRequest = timer.start(req, res, route.path);
    const requestId = startResponse(options, res);
    // Error responses need this header as well. Without it, the calling page could not read them.
    if (route.isForAnyOrigin === true) res.setHeader("Access-Control-Allow-Origin", "*");
    const parent = joinTraceById(req.get("traceparent"));
    await runInServerSpan({ req, res, route, parent }, async () => {
      try {
        await respondWithinTimeout(req, route, async () => {
          try {
            const caller = await authorizeRequest(options.authorizer, route, req, res);
            await route.handle(req, res, caller);
          } finally {
            // After a timeout or a disconnect, the handler continues with the body.
            route.largeBodies?.release(res);
          }
        });
        if (route.isEndless === true && !res.closed) recordRequest();
      } catch (error) {
        sendError(options, { error, unexpectedError, route, requestId }, req, res);
      }
      const logFields = { request_id: requestId, route: route.path, status: res.statusCode };
      options.log.debug(logFields, "request completed");
    });
  };
};

/** How often to check whether the request has arrived completely. */
const completionPollMs = 50;

/**
 * Starts the timeout when the request has arrived completely. The server limits the upload time
 * separately.
 */
const respondWithinTimeout = async (
  req: Request,
  { responseMsMax = defaultResponseMsMax }: Route,
  handle: () => Promise<void>,
): Promise<void> => {
  const timeout = Promise.withResolvers<never>();
  const rejectWithTimeout = () =>
    timeout.reject(new ResponseTimeoutError(`no response after ${responseMsMax} ms`));
  const checkCompletion = () => {
    timer = req.complete
      ? setTimeout(rejectWithTimeout, responseMsMax)
      : setTimeout(checkCompletion, completionPollMs);
  };
  // Most responses are sent before this timer fires.
  let timer = setTimeout(checkCompletion, completionPollMs);
  try {
    await Promise.race([handle(), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Assigns the request an id for its response and log lines, and sets the headers that every
 * response has.
 */
const startResponse = ({ authorizer }: AppOptions, res: Response): string => {
  const requestId = randomUUID();
  res.setHeader("X-Request-Id", requestId);
  res.set(defaultHeaders);
  // The cookie policy knows whether browsers use HTTPS for this service.
  if (authorizer.cookie.isSecure)
    res.setHeader("Strict-Transport-Security", strictTransportSecurity);
  return requestId;
};

/** One year, for this host only, because other services may run on subdomains. */
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
  // Any other failure is the service's fault and is logged even if the client has disconnected.
  const isUndeliverable = knownError !== undefined && res.closed && !res.headersSent;
  if (isUndeliverable || (req.destroyed && !req.complete)) {
    log.debug({ ...logFields, codes: knownError?.message }, "client disconnected");
    if (!res.headersSent) res.statusCode = clientClosedRequestStatus;
    res.destroy();
    return;
  }
  if (isServerError) log.error({ ...logFields, err: error }, "request failed");
  else log.debug({ ...logFields, codes: apiError.message }, "request rejected");
  if (res.headersSent) {
    // Destroys a partial response, so that it does not look complete. A complete response stays
    // valid even if something failed afterwards.
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

/**
 * Sends the response to a CORS preflight. Browsers send a preflight before each call with a JSON
 * body.
 */
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
