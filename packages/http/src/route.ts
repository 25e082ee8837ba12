import type { Request, Response } from "express";
import type { Operation, ApiError, ApiErrorCode, Scope } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import type { Limit } from "@payment-links/rate-limit";
import type { LargeBodies } from "./large-bodies.ts";

export type Method = Operation["method"];

/** Who may call the route. */
type CallerRule = { by: "anyone" } | { by: "api-key"; scope: Scope } | { by: "session" };

/** An absolute limit, or a multiple of the default per-address limit. */
export type RouteLimit = { policy: string; limit: Limit } | { policy: string; factor: number };

/** One entry of a service's route table. */
export type Route = {
  method: Method;
  /** An Express 5 path. */
  path: string;
  caller: CallerRule;
  /** Whether a session route requires a recent presence proof (rule CALLER-19). */
  needsPresence?: boolean;
  /**
   * If set, the route uses its own bucket per source address instead of the default one. A session
   * route also uses one per account, because one account can call from many addresses.
   */
  routeLimit?: RouteLimit;
  /** If set, bodies of the route can exceed 64 KiB. */
  largeBodies?: LargeBodies;
  /** The code for an error other than `ApiError`. Default: `INTERNAL_ERROR`. */
  unexpectedError?: ApiErrorCode;
  /** The maximum time until the response. Default: 5.5 s. */
  responseMsMax?: number;
  /**
   * Whether the handler streams the response. Its recorded duration then ends when the response
   * starts.
   */
  isEndless?: boolean;
  /**
   * Whether pages of any origin can call the route without credentials and read the response
   * (CORS).
   */
  isForAnyOrigin?: boolean;
  /** Renders an error as a page. Default: the error envelope. */
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

/** A route that requires no credentials. It is limited per source address. */
export const publicRoute = (route: PublicRoute): Route => ({
  ...route,
  caller: { by: "anyone" },
});

/** A route for API keys with the given scope, limited per key and per source address. */
export const keyRoute = ({
  scope,
  handle,
  ...route
}: CallerRoute & { scope: Scope; isEndless?: boolean }): Route => ({
  ...route,
  caller: { by: "api-key", scope },
  handle: (req, res, caller) => handle(req, res, requireCaller(caller)),
});

/**
 * A console route for a signed-in user. It accepts only calls from the service's own site and is
 * limited per source address.
 */
export const sessionRoute = ({
  handle,
  ...route
}: CallerRoute & Pick<Route, "needsPresence" | "routeLimit" | "largeBodies">): Route => ({
  ...route,
  caller: { by: "session" },
  handle: (req, res, caller) => handle(req, res, requireCaller(caller)),
});

const requireCaller = (caller: Caller | undefined): Caller => {
  if (caller === undefined) throw new Error("the route has no caller");
  return caller;
};
