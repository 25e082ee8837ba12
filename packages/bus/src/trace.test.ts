import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { context } from "@opentelemetry/api";
import { continueTrace, openMetrics, openTracing, systemClock } from "@payment-links/runtime";
import { startConsumer } from "./consumer.ts";
import { outgoing, publish } from "./outbox.ts";
import { on } from "./reaction.ts";
import { createRelay } from "./relay.ts";
import {
  type TestSchema,
  createHandBus,
  eventually,
  fresh,
  openTestSchema,
  quietLog,
  received,
  testEvent,
} from "./testing/rig.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe("a trace", () => {
  const exported: string[] = [];
  let collector: Server;
  let closeTracing = async () => {};
  let database: TestSchema;
  const running: { stop(): Promise<void> }[] = [];

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
    closeTracing = await openTracing("bus", true);
    database = await openTestSchema();
  });
  afterAll(async () => {
    await Promise.all(running.map((each) => each.stop()));
    await database.close();
    collector.closeAllConnections();
    collector.close();
  });

  test("goes from a request by outbox and consumer to the events published there (rule EVENT-4)", async () => {
    const { pool } = database;
    const bus = createHandBus();
    const event = testEvent("things.v1");
    const change = (key: string) =>
      outgoing(event, { key, occurredAt: new Date(), data: { step: 1 } });
    const consumer = await startConsumer({
      bus,
      pool,
      group: fresh("group"),
      metrics: openMetrics("test"),
      log: quietLog,
      clock: systemClock,
      reactions: [on(event, (tx) => publish(tx, [change("second")]))],
    });
    const relay = createRelay({
      databaseUrl: database.url,
      bus,
      service: "tester",
      metrics: openMetrics("test"),
      log: quietLog,
    });
    running.push(consumer, relay);
    await context.with(continueTrace(traceparent), () =>
      pool.transaction((tx) => publish(tx, [change("first")])),
    );
    const [first] = await eventually(
      () => bus.sent.flat(),
      (records) => records.length === 1,
    );
    expect(first?.headers["traceparent"]).toBe(traceparent);
    if (first !== undefined) await bus.handOver([received(first)]);
    const [, second] = await eventually(
      () => bus.sent.flat(),
      (records) => records.length === 2,
    );
    expect(second?.headers["traceparent"]).toMatch(new RegExp(`^00-${traceId}-`));
    expect(second?.headers["traceparent"]).not.toBe(traceparent);
    await closeTracing();
    const text = exported.join("");
    expect(text).toContain("process things.v1");
    expect(text).toContain("send outbox");
  });
});
