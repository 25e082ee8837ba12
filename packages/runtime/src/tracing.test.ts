import { describe, expect, test } from "@jest/globals";
import { context, trace } from "@opentelemetry/api";
import { createLog } from "./log.ts";
import { startCollectedTracing } from "./testing/collector.ts";
import { useRig } from "./testing/use-rig.ts";
import { getActiveTraceparent, extractTraceContext, startTracing, tracer } from "./tracing.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe("with tracing disabled", () => {
  test("loads no SDK, returns no traceparent and creates no-op spans", async () => {
    const stopTracing = await startTracing("test", false);
    const span = tracer.startSpan("work", {}, extractTraceContext(traceparent));
    expect(span.isRecording()).toBe(false);
    expect(getActiveTraceparent()).toBeUndefined();
    await stopTracing();
  });
});

describe("with tracing enabled", () => {
  const tracing = useRig(() => startCollectedTracing("links-api"));

  test("continues the trace of a traceparent and propagates it", () => {
    const span = tracer.startSpan("work", {}, extractTraceContext(traceparent));
    context.with(trace.setSpan(context.active(), span), () => {
      expect(getActiveTraceparent()).toBe(`00-${traceId}-${span.spanContext().spanId}-01`);
    });
    span.end();
    expect(span.spanContext().spanId).not.toBe("b7ad6b7169203331");
  });

  test.each([undefined, "", "garbage", `00-${"0".repeat(32)}-b7ad6b7169203331-01`])(
    "starts a new trace for the invalid traceparent %j",
    (invalidTraceparent) => {
      const span = tracer.startSpan("work", {}, extractTraceContext(invalidTraceparent));
      expect(span.spanContext().traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(["0".repeat(32), traceId]).not.toContain(span.spanContext().traceId);
      span.end();
    },
  );

  test("adds trace ids to log lines within a span only", () => {
    const written: string[] = [];
    const destination = { write: (text: string) => void written.push(text) };
    const log = createLog({ service: "test", level: "info" }, destination);
    const span = tracer.startSpan("work", {}, extractTraceContext(traceparent));
    context.with(trace.setSpan(context.active(), span), () => log.info("inside"));
    log.info("outside");
    span.end();
    expect(JSON.parse(written[0] ?? "")).toMatchObject({
      trace_id: traceId,
      span_id: span.spanContext().spanId,
    });
    expect(JSON.parse(written[1] ?? "")).not.toHaveProperty("trace_id");
  });

  test("exports every ended span to the OTLP endpoint when tracing stops", async () => {
    tracer.startSpan("the last work").end();
    await tracing.stopTracing();
    expect(tracing.requestedPaths[0]).toBe("/v1/traces");
    expect(tracing.received()).toContain("the last work");
    expect(tracing.received()).toContain("links-api");
  });
});
