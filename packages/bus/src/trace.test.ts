import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { context } from "@opentelemetry/api";
import {
  extractTraceContext,
  createMetrics,
  startTracing,
  systemClock,
} from "@payment-links/runtime";
import { startConsumer } from "./consumer.ts";
import { createOutgoingEvent, publish } from "./outbox.ts";
import { on } from "./event-handlers.ts";
import { createRelay } from "./relay.ts";
import {
  type TestSchema,
  createManualBus,
  eventually,
  createUniqueName,
  createTestSchema,
  silentLog,
  toReceivedRecord,
  createTestEventType,
} from "./testing/rig.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe("a trace", () => {
  const exported: string[] = [];
  let collector: Server;
  let closeTracing = async () => {};
  let database: TestSchema;
  const runningProcesses: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    collector = createServer((req, res) => {
      req.on("data", (chunk: Buffer) => exported.push(chunk.toString("latin1")));
      req.on("end", () => res.end());
    });
    await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
    const { port } = collector.address() as AddressInfo;
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
    process.env["OTEL_METRICS_EXPORTER"] = "none";
    process.env["OTEL_LOGS_EXPORTER"] = "none";
    closeTracing = await startTracing("bus", true);
    database = await createTestSchema();
  });
  afterAll(async () => {
    await Promise.all(runningProcesses.map((runningProcess) => runningProcess.stop()));
    await database.close();
    collector.closeAllConnections();
    collector.close();
  });

  test("continues from a request through outbox and consumer to the events published there (rule EVENT-4)", async () => {
    const { pool } = database;
    const bus = createManualBus();
    const event = createTestEventType("things.v1");
    const createChangedEvent = (key: string) =>
      createOutgoingEvent(event, { key, occurredAt: new Date(), data: { step: 1 } });
    const consumer = await startConsumer({
      bus,
      pool,
      group: createUniqueName("group"),
      metrics: createMetrics("test"),
      log: silentLog,
      clock: systemClock,
      handlers: [on(event, (tx) => publish(tx, [createChangedEvent("second")]))],
    });
    const relay = createRelay({
      databaseUrl: database.url,
      bus,
      service: "tester",
      metrics: createMetrics("test"),
      log: silentLog,
    });
    runningProcesses.push(consumer, relay);
    await context.with(extractTraceContext(traceparent), () =>
      pool.transaction((tx) => publish(tx, [createChangedEvent("first")])),
    );
    const [first] = await eventually(
      () => bus.sentBatches.flat(),
      (records) => records.length === 1,
    );
    expect(first?.headers["traceparent"]).toBe(traceparent);
    if (first !== undefined) await bus.deliver([toReceivedRecord(first)]);
    const [, second] = await eventually(
      () => bus.sentBatches.flat(),
      (records) => records.length === 2,
    );
    expect(second?.headers["traceparent"]).toMatch(new RegExp(`^00-${traceId}-`));
    expect(second?.headers["traceparent"]).not.toBe(traceparent);
    await closeTracing();
    const exportedText = exported.join("");
    expect(exportedText).toContain("process things.v1");
    expect(exportedText).toContain("send outbox");
  });
});
