import { type Context, ROOT_CONTEXT, context, propagation, trace } from "@opentelemetry/api";
import { afterMs, systemClock } from "./clock.ts";

const flushMsMax = 3_000;

/**
 * Starts OpenTelemetry, which exports over OTLP/HTTP as the standard `OTEL_…` variables say.
 * Answers the call that flushes for at most 3 s and stops it. Nothing is loaded while it is
 * switched off: the SDK costs start-up time, and the API's no-op spans cost nothing.
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
    // A collector that is away would hold up the stop for ten seconds.
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

/** The active trace as a W3C `traceparent`, or undefined if nothing is traced. */
export const getActiveTraceparent = (): string | undefined => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
};

/** The context that continues the trace of a `traceparent`. */
export const extractTraceContext = (traceparent: string | undefined): Context =>
  traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });

/**
 * The context that joins a stranger's trace by its id alone. Whether it is sampled is our own
 * sampler's word, about a trace of our own: a stranger can neither fill our collector nor hide.
 */
export const joinTraceById = (traceparent: string | undefined): Context => {
  const remoteContext = extractTraceContext(traceparent);
  const remoteSpanContext = trace.getSpanContext(remoteContext);
  if (remoteSpanContext === undefined) return remoteContext;
  // A span that never ends is never exported.
  const { traceFlags } = tracer.startSpan("sampling", { root: true }).spanContext();
  return trace.setSpanContext(ROOT_CONTEXT, { ...remoteSpanContext, traceFlags });
};
