import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Admin } from "kafkajs";
import { openMetrics } from "@payment-links/runtime";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { type KafkaBus, createKafkaBus } from "./kafka-bus.ts";
import { openKafka } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { eventually, fresh, quietLog, testRecord } from "./testing/rig.ts";
import { testBrokers } from "./testing/test-brokers.ts";

const connection = { brokers: testBrokers(), clientId: "bus-test", log: quietLog };

describe("Kafka bus", () => {
  const admin: Admin = openKafka(connection).admin();
  let bus: KafkaBus | undefined;

  beforeAll(() => admin.connect());
  afterEach(() => bus?.close());
  afterAll(() => admin.disconnect());

  test("a handler that takes longer than the session keeps its partitions", async () => {
    const topic = fresh("topic");
    const topics = { [topic]: { partitions: 1, config: {} } };
    await ensureTopics({ ...connection, replicationFactor: 1, topics });
    bus = createKafkaBus({ ...connection, metrics: openMetrics("test") });
    const group = fresh("group");
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    let handedOver = 0;
    const aborted: boolean[] = [];
    await bus.subscribe({
      group,
      topics: [topic],
      handle: async (records, signal) => {
        handedOver += records.length;
        await gate;
        aborted.push(signal.aborted);
        return { handledCount: records.length };
      },
    });
    await bus.publish([testRecord(topic, { key: "a", step: 1 })]);
    await eventually(
      () => handedOver,
      (count) => count === 1,
    );
    // The session lasts 15 s; only time itself can show that it was kept alive.
    await injectDelay("slow work", 18_000);
    openGate();
    await eventually(
      () => admin.fetchOffsets({ groupId: group, topics: [topic] }),
      ([committed]) => committed?.partitions[0]?.offset === "1",
    );
    expect({ handedOver, aborted }).toEqual({ handedOver: 1, aborted: [false] });
  });
});
