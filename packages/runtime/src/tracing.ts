import { type Context, ROOT_CONTEXT, context, propagation, trace } from "@opentelemetry/api";
import { afterMs, systemClock } from "./clock.ts";

const flushMsMax = 3_000;

/**
 * Starts OpenTelemetry, which exports over OTLP/HTTP as configured by the standard `OTEL_…`
 * variables. Returns a function that flushes for at most 3 s and stops it. Loads nothing while
 * tracing is disabled: the SDK costs startup time, and the API's no-op spans cost nothing.
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
    // An unavailable collector would delay the stop by 10 s.
    const flushEnded = new AbortController();
    const shutdown = sdk.shutdown().finally(() => flushEnded.abort());
    await Promise.race([
      shutdown,
      systemClock.sleepUntil(afterMs(systemClock, flushMsMax), flushEnded.signal),
    ]);
  };
};

/** The tracer of our own spans. */
export const tracer = trace.getTracer("payment-links");

/** Returns the active trace as a W3C `traceparent`, or undefined without one. */
export const getActiveTraceparent = (): string | undefined => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
};

/** Returns the context that continues the trace of a `traceparent`. */
export const extractTraceContext = (traceparent: string | undefined): Context =>
  traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });

/**
 * Returns a context that joins a remote trace by its id alone. Our own sampler decides whether it
 * is sampled, as for a trace of ours. An external client can neither flood our collector nor
 * disable tracing.
 */
export const joinTraceById = (traceparent: string | undefined): Context => {
  const remoteContext = extractTraceContext(traceparent);
  const remoteSpanContext = trace.getSpanContext(remoteContext);
  if (remoteSpanContext === undefined) return remoteContext;
  // A span that never ends is never exported.
  const { traceFlags } = tracer.startSpan("sampling", { root: true }).spanContext();
  return trace.setSpanContext(ROOT_CONTEXT, { ...remoteSpanContext, traceFlags });
};
