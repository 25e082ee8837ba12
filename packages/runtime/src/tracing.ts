import { type Context, ROOT_CONTEXT, context, propagation, trace } from "@opentelemetry/api";
import { afterMs, systemClock } from "./clock.ts";

const flushMsMax = 3_000;

/**
 * Starts OpenTelemetry, which exports over OTLP/HTTP. The standard `OTEL_…` variables configure it.
 * Returns a function that flushes for at most 3 s and stops it. While tracing is disabled, the SDK
 * is not loaded, because it slows down startup. The spans of the API are then no-ops.
 */
export const startTracing = async (
  service: string,
  isEnabled: boolean,
): Promise<() => Promise<void>> => {
  if (!isEnabled) return async () => {};
  const { NodeSDK } = await import("@opentelemetry/sdk-node");
  const sdk = new NodeSDK({ serviceName: service, instrumentations: [] });
  sdk.start();
  return async () => {
    // Without this limit, an unavailable collector would delay the shutdown by 10 s.
    const flushEnded = new AbortController();
    const shutdown = sdk.shutdown().finally(() => flushEnded.abort());
    await Promise.race([
      shutdown,
      systemClock.sleepUntil(afterMs(systemClock, flushMsMax), flushEnded.signal),
    ]);
  };
};

/** The tracer of the product's own spans. */
export const tracer = trace.getTracer("payment-links");

/** Returns the active trace as a W3C `traceparent`, or undefined if there is none. */
export const getActiveTraceparent = (): string | undefined => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
};

/** Returns the context that continues the trace of a `traceparent`. */
export const extractTraceContext = (traceparent: string | undefined): Context =>
  traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });

/**
 * Returns a context that joins a remote trace by its id alone. The service's own sampler decides
 * whether the trace is sampled. Therefore, an external client can neither flood the collector nor
 * disable tracing.
 */
export const joinTraceById = (traceparent: string | undefined): Context => {
  const remoteContext = extractTraceContext(traceparent);
  const remoteSpanContext = trace.getSpanContext(remoteContext);
  if (remoteSpanContext === undefined) return remoteContext;
  // This span is used only for the sampling decision. It is never exported, because it never ends.
  const { traceFlags } = tracer.startSpan("sampling", { root: true }).spanContext();
  return trace.setSpanContext(ROOT_CONTEXT, { ...remoteSpanContext, traceFlags });
};
