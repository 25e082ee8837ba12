import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { context, trace } from "@opentelemetry/api";
import { createLog } from "./log.ts";
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
  const exported: string[] = [];
  let collector: Server;
  let stopTracing = async () => {};

  beforeAll(async () => {
    collector = createServer((req, res) => {
      req.on("data", (chunk: Buffer) => exported.push(`${req.url} ${chunk.toString("latin1")}`));
      req.on("end", () => res.end());
    });
    await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
    const { port } = collector.address() as AddressInfo;
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
    process.env["OTEL_METRICS_EXPORTER"] = "none";
    process.env["OTEL_LOGS_EXPORTER"] = "none";
    stopTracing = await startTracing("links-api", true);
  });
  afterAll(() => new Promise((resolve) => void collector.close(resolve)));

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
    await stopTracing();
    const exportedText = exported.join("");
    expect(exportedText).toMatch(/^\/v1\/traces /);
    expect(exportedText).toContain("the last work");
    expect(exportedText).toContain("links-api");
  });
});
