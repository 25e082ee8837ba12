import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Admin } from "kafkajs";
import { createMetrics } from "@payment-links/runtime";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { type KafkaBus, createKafkaBus } from "./kafka-bus.ts";
import { createKafkaClient } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { eventually, createUniqueName, silentLog, createTestRecord } from "./testing/rig.ts";
import { getTestBrokers } from "./testing/test-brokers.ts";

const connection = { brokers: getTestBrokers(), clientId: "bus-test", log: silentLog };

describe("Kafka bus", () => {
  const admin: Admin = createKafkaClient(connection).admin();
  let bus: KafkaBus | undefined;

  beforeAll(() => admin.connect());
  afterEach(() => bus?.close());
  afterAll(() => admin.disconnect());

  test("keeps a member's partitions when a handler runs longer than the session timeout", async () => {
    const topic = createUniqueName("topic");
    const topics = { [topic]: { partitions: 1, config: {} } };
    await ensureTopics({ ...connection, replicationFactor: 1, topics });
    bus = createKafkaBus({ ...connection, metrics: createMetrics("test") });
    const group = createUniqueName("group");
    const { promise: latch, resolve: releaseLatch } = Promise.withResolvers<void>();
    let deliveryCount = 0;
    const abortedFlags: boolean[] = [];
    await bus.subscribe({
      group,
      topics: [topic],
      handle: async (records, signal) => {
        deliveryCount += records.length;
        await latch;
        abortedFlags.push(signal.aborted);
        return { handledCount: records.length };
      },
    });
    await bus.publish([createTestRecord(topic, { key: "a", step: 1 })]);
    await eventually(() => deliveryCount, 1);
    // The session timeout is 15 s. Only real time can show that heartbeats kept the session alive.
    await injectDelay("slow work", 18_000);
    releaseLatch();
    await eventually(
      () => admin.fetchOffsets({ groupId: group, topics: [topic] }),
      ([committedOffsets]) => committedOffsets?.partitions[0]?.offset === "1",
    );
    expect({ deliveryCount, abortedFlags }).toEqual({
      deliveryCount: 1,
      abortedFlags: [false],
    });
  });
});
