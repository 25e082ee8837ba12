import {
  type Context,
  SpanKind,
  SpanStatusCode,
  context,
  isSpanContextValid,
  trace,
} from "@opentelemetry/api";
import type { Request, Response } from "express";
import { tracer } from "@payment-links/runtime";

type ServedRequest = {
  req: Request;
  res: Response;
  route: { method: string; path: string };
  /** The trace that the span continues. */
  parent: Context;
};

/** Handles a request in a span named after its route. */
export const runInServerSpan = async (
  { req, res, route, parent }: ServedRequest,
  handle: () => Promise<void>,
): Promise<void> => {
  const attributes = { "http.route": route.path, "http.request.method": req.method };
  const span = tracer.startSpan(
    `${route.method.toUpperCase()} ${route.path}`,
    { kind: SpanKind.SERVER, attributes },
    parent,
  );
  // Without tracing, there is no context to pass on.
  const isTraced = isSpanContextValid(span.spanContext());
  await (isTraced ? context.with(trace.setSpan(context.active(), span), handle) : handle());
  if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("http.response.status_code", res.statusCode);
  span.end();
};
