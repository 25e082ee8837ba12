import type { Request, Response } from "express";
import { Histogram } from "prom-client";
import type { Metrics } from "@payment-links/runtime";

const knownMethods = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS"]);
const msPerSecond = 1000;

/**
 * The status in metrics when the client disconnected before the response, as in nginx. It is never
 * sent.
 */
export const clientClosedRequestStatus = 499;

export type RequestTimer = {
  /**
   * Starts measuring a request, which is recorded under its route when the response closes. The
   * returned function records it earlier. Endless responses use it, because only the time until
   * their start matters.
   */
  start(req: Request, res: Response, route: string): () => void;
};

/** Measures request durations by method, route and status, with OpenTelemetry's HTTP metric names. */
export const createRequestTimer = (metrics: Metrics): RequestTimer => {
  const duration = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Time from a request's arrival to the end of its response",
    labelNames: ["http_request_method", "http_route", "http_response_status_code"] as const,
    // The buckets of the OpenTelemetry conventions, plus 0.3 s, which is the API's latency SLO.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.3, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    registers: [metrics],
  });
  return {
    start: (req, res, route) => {
      const startedAt = performance.now();
      const recordRequest = () => {
        res.off("close", recordRequest);
        duration.observe(
          {
            http_request_method: knownMethods.has(req.method) ? req.method : "_OTHER",
            http_route: route,
            // The client disconnected before the response, so there is no status.
            http_response_status_code: res.headersSent ? res.statusCode : clientClosedRequestStatus,
          },
          (performance.now() - startedAt) / msPerSecond,
        );
      };
      res.once("close", recordRequest);
      return recordRequest;
    },
  };
};
