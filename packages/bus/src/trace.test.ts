import { describe, expect, test } from "@jest/globals";
import { context } from "@opentelemetry/api";
import { extractTraceContext, createMetrics, systemClock } from "@payment-links/runtime";
import { startCollectedTracing } from "@payment-links/runtime/testing/collector";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { startConsumer } from "./consumer.ts";
import { createOutgoingEvent, publish } from "./outbox.ts";
import { on } from "./event-handlers.ts";
import { createRelay } from "./relay.ts";
import {
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
  const tracing = useRig(() => startCollectedTracing("bus"));
  const database = useRig(createTestSchema);
  const closeAfterTest = closeAfterEach();

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
    for (const running of [consumer, relay]) closeAfterTest({ close: () => running.stop() });
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
    await tracing.stopTracing();
    expect(tracing.received()).toContain("process things.v1");
    expect(tracing.received()).toContain("send outbox");
  });
});
