import { randomUUID } from "node:crypto";
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from "express";
import { type Refusal, type RefusalCode, refuse } from "@payment-links/contracts";
import { IdentityUnavailable } from "@payment-links/identity";
import { type Log, type Metrics, joinTrace } from "@payment-links/runtime";
import { type Gate, admit } from "./admit.ts";
import { answerRefusal, refusalOf } from "./answer-error.ts";
import { clientGone, createRequestTimer, type RequestTimer } from "./request-metrics.ts";
import type { Method, Route } from "./route.ts";
import { inServerSpan } from "./server-span.ts";
import { trustProxySetting } from "./trusted-proxies.ts";
import { warnOfUntrustedProxy } from "./warn-of-untrusted-proxy.ts";
import { usualHeaders } from "./usual-headers.ts";

export type AppOptions = {
  routes: readonly Route[];
  /** How an address where nothing is is answered; with the error envelope if not given. */
  answerUnknown?: Route["answerRefusal"] | undefined;
  gate: Gate;
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
  app.set("trust proxy", trustProxySetting(options.trustedProxies));
  const isTrusted: (address: string, hop: number) => boolean = app.get("trust proxy fn");
  app.use(warnOfUntrustedProxy(options.log, (address) => isTrusted(address, 0)));
  const timer = createRequestTimer(options.metrics);
  const { answerUnknown = answerPlainly } = options;
  for (const route of options.routes) {
    app[route.method](route.path, serveRoute(options, timer, route));
  }
  for (const [path, methods] of methodsByPath(options.routes)) {
    const open = options.routes.filter((route) => route.path === path && route.isForAnyOrigin);
    if (open.length > 0) app.options(path, answerPreflight(options, timer, { path, methods }));
    // What lies below a catch-all has methods that it does not know.
    if (path.includes("*")) continue;
    app.all(path, refuseMethod(options, timer, { path, methods }));
  }
  app.use((req, res) => {
    timer.time(req, res, "unmatched");
    beginAnswer(options, res);
    answerUnknown(refuse("NOT_FOUND"), req, res);
  });
  app.use(answerStrayError(options, timer));
  return app;
};

/** Just over the time that one statement of the database may take. */
const answerMsMaxUsual = 5_500;

/** A caller waited for as long as a route lets it. What was begun goes on; nobody hears its answer. */
class AnswerLateError extends Error {
  override readonly name = "AnswerLateError";
}

const serveRoute = (options: AppOptions, timer: RequestTimer, route: Route) => {
  const failure = route.failure ?? "INTERNAL_ERROR";
  return async (req: Request, res: Response): Promise<void> => {
    const count = timer.time(req, res, route.path);
    const requestId = beginAnswer(options, res);
    // A refusal as well: otherwise a page would hear of none.
    if (route.isForAnyOrigin === true) res.setHeader("Access-Control-Allow-Origin", "*");
    const parent = joinTrace(req.get("traceparent"));
    await inServerSpan({ req, res, route, parent }, async () => {
      try {
        await answerInTime(req, route, async () => {
          const caller = await admit(options.gate, route, req, res);
          await route.handle(req, res, caller);
        });
        if (route.isEndless === true && !res.closed) count();
      } catch (error) {
        answerError(options, { error, failure, route, requestId }, req, res);
      }
      const line = { request_id: requestId, route: route.path, status: res.statusCode };
      options.log.debug(line, "a request was answered");
    });
  };
};

/** How long after its last byte a request is seen to be whole. */
const wholePollMs = 50;

/** The time that a client takes to send its request is not ours; the server bounds it. */
const answerInTime = async (
  req: Request,
  { answerMsMax: waitMs = answerMsMaxUsual }: Route,
  answer: () => Promise<void>,
): Promise<void> => {
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(new AnswerLateError(`there is no answer after ${waitMs} ms`));
  const look = () => {
    timer = req.complete ? setTimeout(giveUp, waitMs) : setTimeout(look, wholePollMs);
  };
  // Mostly it is answered by then.
  let timer = setTimeout(look, wholePollMs);
  try {
    await Promise.race([answer(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Gives the request an id, which its answer and its log lines carry, and the answer what holds for
 * every one of ours.
 */
const beginAnswer = ({ gate }: AppOptions, res: Response): string => {
  const requestId = randomUUID();
  res.setHeader("X-Request-Id", requestId);
  res.set(usualHeaders);
  // The cookie's policy knows whether browsers reach us by https.
  if (gate.cookie.isSecure) res.setHeader("Strict-Transport-Security", hsts);
  return requestId;
};

/** A year, for this host alone: what else the domain serves is not ours to decide. */
const hsts = "max-age=31536000";

type Failed = { error: unknown; failure: RefusalCode; route?: Route; requestId: string };

const answerError = (
  { log, answerUnknown = answerPlainly }: AppOptions,
  { error, failure, route, requestId }: Failed,
  req: Request,
  res: Response,
): void => {
  const told = refusalOf(error);
  const isOthers = error instanceof IdentityUnavailable || error instanceof AnswerLateError;
  const isAway = isOthers && failure === "INTERNAL_ERROR";
  const refusal = told ?? refuse(isAway ? "SERVICE_UNAVAILABLE" : failure);
  const isOurFault = told === undefined || refusal.status >= 500;
  const line = { request_id: requestId, route: route?.path, status: refusal.status };
  // Whatever else fails is ours, and told although nobody waits for the answer.
  const isUnheard = told !== undefined && res.closed && !res.headersSent;
  if (isUnheard || (req.destroyed && !req.complete)) {
    log.debug({ ...line, codes: told?.message }, "a client went away");
    if (!res.headersSent) res.statusCode = clientGone;
    res.destroy();
    return;
  }
  if (isOurFault) log.error({ ...line, err: error }, "a request failed");
  else log.debug({ ...line, codes: refusal.message }, "a request was refused");
  if (res.headersSent) {
    // Half an answer must not look whole. A whole answer stands, even if something failed after it.
    if (!res.writableEnded) res.destroy();
    return;
  }
  const answer = route === undefined ? answerUnknown : (route.answerRefusal ?? answerPlainly);
  answer(refusal, req, res);
};

const answerPlainly = (refusal: Refusal, _req: Request, res: Response): void =>
  answerRefusal(refusal, res);

const answerStrayError =
  (options: AppOptions, timer: RequestTimer): ErrorRequestHandler =>
  (error: unknown, req: Request, res: Response, _next) => {
    timer.time(req, res, "unmatched");
    const failed = {
      error,
      failure: "INTERNAL_ERROR",
      requestId: beginAnswer(options, res),
    } as const;
    answerError(options, failed, req, res);
  };

const methodsByPath = (routes: readonly Route[]): Map<string, Method[]> => {
  const paths = new Map<string, Method[]>();
  for (const { path, method } of routes) paths.set(path, [...(paths.get(path) ?? []), method]);
  return paths;
};

const preflightSecondsMax = "86400";

/** Tells a browser what pages of other origins may ask. It asks before each call with a JSON body. */
const answerPreflight =
  (
    options: AppOptions,
    timer: RequestTimer,
    { path, methods }: { path: string; methods: readonly Method[] },
  ) =>
  (req: Request, res: Response): void => {
    timer.time(req, res, path);
    beginAnswer(options, res);
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader(
      "Access-Control-Allow-Methods",
      methods.map((method) => method.toUpperCase()).join(", "),
    );
    res.setHeader("Access-Control-Allow-Headers", "Content-Type, Accept-Language");
    res.setHeader("Access-Control-Max-Age", preflightSecondsMax);
    res.status(204).end();
  };

const refuseMethod = (
  options: AppOptions,
  timer: RequestTimer,
  { path, methods }: { path: string; methods: readonly Method[] },
) => {
  const names = methods.map((method) => method.toUpperCase());
  const allow = names.includes("GET")
    ? ["GET", "HEAD", ...names.filter((n) => n !== "GET")]
    : names;
  return (req: Request, res: Response): void => {
    timer.time(req, res, path);
    beginAnswer(options, res);
    res.setHeader("Allow", allow.join(", "));
    answerRefusal(refuse("METHOD_NOT_ALLOWED"), res);
  };
};
