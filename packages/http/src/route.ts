import type { Request, Response } from "express";
import type { Operation, ApiError, ApiErrorCode, Scope } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import type { Limit } from "@payment-links/rate-limit";

export type Method = Operation["method"];

/** Who may call. */
type CallerRule = { by: "anyone" } | { by: "api-key"; scope: Scope } | { by: "session" };

/** A limit of its own, or a multiple of the limit that addresses have for other routes. */
export type RouteLimit = { policy: string; limit: Limit } | { policy: string; factor: number };

/** One entry of a service's route table, which serves it and limits it. */
export type Route = {
  method: Method;
  /** An Express 5 path. */
  path: string;
  caller: CallerRule;
  /** Whether a session's person must have proven lately to be there (rule CALLER-19). */
  needsPresence?: boolean;
  /** A bucket per source address in place of the usual one. */
  routeLimit?: RouteLimit;
  /** The code for an error that is no refusal; INTERNAL_ERROR if not given. */
  unexpectedError?: ApiErrorCode;
  /** How long a caller waits at most for the answer; 5.5 s if not given. */
  responseMsMax?: number;
  /** Whether the answer has begun, and does not end, once it is handled: it is timed up to there. */
  isEndless?: boolean;
  /** Whether pages of any origin may call and read it, without credentials (CORS). */
  isForAnyOrigin?: boolean;
  /** How a page answers a refusal; the error envelope if not given. */
  sendApiError?: (apiError: ApiError, req: Request, res: Response) => void;
  handle: (req: Request, res: Response, caller: Caller | undefined) => Promise<void> | void;
};

type CommonRouteFields = Pick<
  Route,
  "method" | "path" | "unexpectedError" | "responseMsMax" | "sendApiError"
>;

type PublicRoute = CommonRouteFields & {
  routeLimit?: RouteLimit;
  isEndless?: boolean;
  isForAnyOrigin?: boolean;
  handle: (req: Request, res: Response) => Promise<void> | void;
};

type CallerRoute = CommonRouteFields & {
  handle: (req: Request, res: Response, caller: Caller) => Promise<void> | void;
};

/** A route that needs no credentials; limited per source address. */
export const publicRoute = (route: PublicRoute): Route => ({
  ...route,
  caller: { by: "anyone" },
});

/** A route that an API key with the scope may call; limited per key and per source address. */
export const keyRoute = ({ scope, handle, ...route }: CallerRoute & { scope: Scope }): Route => ({
  ...route,
  caller: { by: "api-key", scope },
  handle: (req, res, caller) => handle(req, res, requireCaller(caller)),
});

/** A console route: a signed-in person, from our own site; limited per source address. */
export const sessionRoute = ({
  handle,
  ...route
}: CallerRoute & Pick<Route, "needsPresence">): Route => ({
  ...route,
  caller: { by: "session" },
  handle: (req, res, caller) => handle(req, res, requireCaller(caller)),
});

const requireCaller = (caller: Caller | undefined): Caller => {
  if (caller === undefined) throw new Error("a route was handled without its caller");
  return caller;
};
