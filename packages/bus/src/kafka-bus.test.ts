import { createRequire } from "node:module";
import { mock } from "node:test";
import { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import kafkajs, { type Admin, Partitioners } from "kafkajs";
import { sqlVoid, connectPool } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { type Metrics, createMetrics, systemClock } from "@payment-links/runtime";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { testBusContract } from "./bus.contract.ts";
import type { Bus, ReceivedRecord } from "./bus.ts";
import { type Consumer, startConsumer } from "./consumer.ts";
import { type KafkaBus, type KafkaBusOptions, createKafkaBus } from "./kafka-bus.ts";
import { createKafkaClient } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { findReceivedUntil, createWatermarkRecord } from "./watermarks.ts";
import { on } from "./event-handlers.ts";
import {
  type TestSchema,
  eventually,
  createUniqueName,
  formatLabel,
  createTestSchema,
  silentLog,
  readEffects,
  publishUntilStored,
  createTestEventType,
  createTestRecord,
  writeEffect,
} from "./testing/rig.ts";
import { getTestBrokers } from "./testing/test-brokers.ts";

const brokers = getTestBrokers();
const connection = { brokers, clientId: "bus-test", log: silentLog };

const createdBuses: Bus[] = [];

const createTestBus = (overrides: Partial<KafkaBusOptions> = {}): KafkaBus => {
  const bus = createKafkaBus({
    ...connection,
    metrics: createMetrics("test"),
    ...overrides,
  });
  createdBuses.push(bus);
  return bus;
};

afterEach(async () => {
  await Promise.all(createdBuses.splice(0).map((bus) => bus.close()));
});

const createTopic = async (partitions = 3): Promise<string> => {
  const topic = createUniqueName("topic");
  const topics = { [topic]: { partitions, config: {} } };
  await ensureTopics({ ...connection, replicationFactor: 1, topics });
  return topic;
};

testBusContract("Kafka", { createBus: () => createTestBus(), createTopic });

describe("Kafka bus", () => {
  const admin: Admin = createKafkaClient(connection).admin();

  beforeAll(() => admin.connect());
  afterAll(() => admin.disconnect());

  test("creates missing topics and their dead-letter topics, and no others", async () => {
    const topic = createUniqueName("topic");
    const config = { "cleanup.policy": "compact", "min.compaction.lag.ms": "1000" };
    const ensureTestTopic = (partitions: number) =>
      ensureTopics({
        ...connection,
        replicationFactor: 1,
        topics: { [topic]: { partitions, config } },
      });
    expect(await ensureTestTopic(5)).toEqual([topic, `${topic}.dead-letter`]);
    expect(await ensureTestTopic(7)).toEqual([]);
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic, `${topic}.dead-letter`] });
    const getPartitionCount = (name: string) =>
      topics.find((topicMetadata) => topicMetadata.name === name)?.partitions.length;
    expect([getPartitionCount(topic), getPartitionCount(`${topic}.dead-letter`)]).toEqual([5, 1]);
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: Object.keys(config) },
      ],
    });
    const entries = resources[0]?.configEntries ?? [];
    expect(
      Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue])),
    ).toEqual(config);
  });

  test("rejects a missing topic without creating it, and sends later records", async () => {
    const bus = createTestBus();
    const [existingTopic, missingTopic] = [await createTopic(), createUniqueName("topic")];
    const record = createTestRecord(existingTopic, { key: "a", step: 1 });
    await expect(
      bus.publish([record, createTestRecord(missingTopic, { key: "a", step: 1 })]),
    ).rejects.toThrow();
    await bus.publish([record]);
    expect(await admin.listTopics()).not.toContain(missingTopic);
  });

  test("delivers records from unknown producers, even with missing fields", async () => {
    const topic = await createTopic(1);
    const producer = createKafkaClient(connection).producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    await producer.send({
      topic,
      messages: [
        { key: null, value: null },
        { key: Buffer.from([0, 0xff, 0xfe]), value: Buffer.from([0xff]) },
        {
          key: "a",
          value: "{}",
          headers: { plain: "b", bytes: Buffer.from("c"), twice: ["d", "e"] },
        },
      ],
    });
    await producer.disconnect();
    const bus = createTestBus();
    const receivedRecords: ReceivedRecord[] = [];
    await bus.subscribe({
      group: createUniqueName("group"),
      topics: [topic],
      handle: async (records) => {
        receivedRecords.push(...records);
        return { handledCount: records.length };
      },
    });
    await eventually(() => receivedRecords.length, 3);
    expect(receivedRecords).toMatchObject([
      { key: undefined, value: undefined, headers: {}, offset: "0" },
      { key: "\0\uFFFD\uFFFD", value: Buffer.from([0xff]), offset: "1" },
      { key: "a", headers: { plain: "b", bytes: "c", twice: "e" }, offset: "2" },
    ]);
  });

  test("batches records that arrive within the batch interval, and still stops immediately", async () => {
    const topic = await createTopic(1);
    const bus = createTestBus();
    const batchIntervalMs = 400;
    const batchStartTimes: number[] = [];
    let handledCount = 0;
    const subscribe = (batchIntervalMs: number) =>
      bus.subscribe({
        group: createUniqueName("group"),
        topics: [topic],
        batchIntervalMs,
        handle: async (records) => {
          batchStartTimes.push(performance.now());
          handledCount += records.length;
          return { handledCount: records.length };
        },
      });
    const limitedSubscription = await subscribe(batchIntervalMs);
    for (let step = 1; step <= 20; step += 1) {
      await bus.publish([createTestRecord(topic, { key: "a", step })]);
    }
    await eventually(() => handledCount, 20);
    await limitedSubscription.stop();
    const gapsMs = batchStartTimes
      .slice(1)
      .map((startedAt, index) => startedAt - (batchStartTimes[index] ?? 0));
    // A timer may fire a millisecond early.
    expect(gapsMs.filter((gapMs) => gapMs < batchIntervalMs - 2)).toEqual([]);

    const slowSubscription = await subscribe(3_600_000);
    await eventually(() => handledCount, 40);
    await slowSubscription.stop();
  });

  test("continues after the batch interval when the system clock is set back during a batch", async () => {
    const topic = await createTopic(1);
    let handledCount = 0;
    const setClockBack = () =>
      mock.timers.enable({ apis: ["Date"], now: Date.now() - 60 * 60_000 });
    try {
      const subscription = await createTestBus().subscribe({
        group: createUniqueName("group"),
        topics: [topic],
        batchIntervalMs: 100,
        handle: async (records) => {
          if (handledCount === 0) setClockBack();
          handledCount += records.length;
          return { handledCount: records.length };
        },
      });
      const senderBus = createTestBus();
      for (const step of [1, 2]) {
        await publishUntilStored(senderBus, [createTestRecord(topic, { key: "a", step })]);
        await eventually(() => handledCount, step);
      }
      await subscription.stop();
    } finally {
      mock.timers.reset();
    }
  });

  test("a consumer waits for unavailable brokers, is not stalled and can be stopped", async () => {
    const metrics = createMetrics("test");
    const silenceMsMax = provokedTimeoutMs(200);
    const bus = createTestBus({ brokers: ["127.0.0.1:9"], metrics, silenceMsMax });
    const handle = async () => ({ handledCount: 0 });
    await bus.subscribe({ group: createUniqueName("group"), topics: ["any"], handle });
    await eventually(() => readCrashCounter(metrics), hasCrashed);
    expect(bus.stalledGroups()).toEqual([]);
    await expect(bus.publish([createTestRecord("any", { key: "a", step: 1 })])).rejects.toThrow();
    await bus.close();
  });

  test("retries a consumer that Kafka rejects, without a limit", async () => {
    const metrics = createMetrics("test");
    const bus = createTestBus({
      metrics,
      sasl: { mechanism: "plain", username: "nobody", password: "wrong" },
    });
    const handle = async () => ({ handledCount: 0 });
    await bus.subscribe({ group: createUniqueName("group"), topics: ["any"], handle });
    await eventually(() => readCrashCounter(metrics), hasCrashedTwice);
    expect(bus.stalledGroups()).toEqual([]);
  });

  // A group member that does not rejoin blocks the whole group. The new member is then silent
  // although its broker responds, because it is neither admitted nor rejected.
  test("a consumer that is silent while its broker responds is stalled until it fetches", async () => {
    const topic = await createTopic(1);
    const group = createUniqueName("group");
    const holder = createKafkaClient(connection).consumer({
      groupId: group,
      sessionTimeout: 60_000,
      rebalanceTimeout: 60_000,
    });
    const { promise: releasePromise, resolve: release } = Promise.withResolvers<void>();
    const { promise: heldBatch, resolve: signalHeld } = Promise.withResolvers<void>();
    await holder.connect();
    await holder.subscribe({ topics: [topic], fromBeginning: true });
    await holder.run({ eachBatch: () => (signalHeld(), releasePromise) });
    const bus = createTestBus({ silenceMsMax: provokedTimeoutMs(2_000) });
    await bus.publish([createTestRecord(topic, { key: "a", step: 1 })]);
    await heldBatch;
    await bus.subscribe({
      group,
      topics: [topic],
      handle: async (records) => ({ handledCount: records.length }),
    });
    expect(bus.stalledGroups()).toEqual([]);
    await eventually(
      () => bus.stalledGroups(),
      (stalledGroups) => stalledGroups[0] === group,
    );
    release();
    await holder.disconnect();
    await eventually(() => bus.stalledGroups().length, 0);
  });

  test("an idle connection does not wake the process", async () => {
    type Queue = { prototype: { checkPendingRequests: () => void } };
    const require = createRequire(import.meta.url);
    const { prototype } = require("kafkajs/src/network/requestQueue/index.js") as Queue;
    const bus = createTestBus();
    const topic = await createTopic();
    const setInterval = mock.method(globalThis, "setInterval");
    await bus.publish([createTestRecord(topic, { key: "a", step: 1 })]);
    const periodsMs = setInterval.mock.calls.map(({ arguments: [, ms = 0] }) => ms);
    setInterval.mock.restore();
    expect(Math.min(...periodsMs)).toBe(2_000);
    const originalCheck = prototype.checkPendingRequests;
    let wakeUpCount = 0;
    prototype.checkPendingRequests = function count() {
      wakeUpCount += 1;
      originalCheck.call(this);
    };
    // Only real time can show that the process is idle. Without the patch, it wakes up about 700
    // times in this second.
    await injectDelay("quiet period", 1_000);
    prototype.checkPendingRequests = originalCheck;
    await bus.close();
    expect(wakeUpCount).toBeLessThan(20);
  });

  // kafkajs would reuse the failed records' sequence numbers for the next records. A broker that
  // had stored the failed records would treat the next ones as duplicates, acknowledge them and
  // drop them. Without protection, this test loses "c".
  test("stores everything it acknowledges after a send without a response", async () => {
    const topic = await createTopic(1);
    const bus = createTestBus();
    const publish = (key: string) => bus.publish([createTestRecord(topic, { key, step: 1 })]);
    await publish("a");
    const restoreBrokers = dropBrokerResponses();
    await expect(publish("b")).rejects.toThrow();
    restoreBrokers();
    await publish("c");
    await publish("d");
    const labels: string[] = [];
    await bus.subscribe({
      group: createUniqueName("group"),
      topics: [topic],
      handle: async (records) => {
        labels.push(...records.map(formatLabel));
        return { handledCount: records.length };
      },
    });
    await eventually(
      () => labels,
      (currentLabels) => currentLabels.includes("d:1"),
    );
    expect(labels).toEqual(["a:1", "b:1", "c:1", "d:1"]);
  });

  test("stores overlapping sends in the order of the calls", async () => {
    const topic = await createTopic(1);
    const bus = createTestBus();
    const steps = Array.from({ length: 50 }, (_, step) => step);
    await Promise.all(
      steps.map((step) => bus.publish([createTestRecord(topic, { key: "a", step })])),
    );
    const labels: string[] = [];
    await bus.subscribe({
      group: createUniqueName("group"),
      topics: [topic],
      handle: async (records) => {
        labels.push(...records.map(formatLabel));
        return { handledCount: records.length };
      },
    });
    await eventually(() => labels.length, 50);
    expect(labels).toEqual(steps.map((step) => `a:${step}`));
  });
});

describe("a group's positions over Kafka", () => {
  const admin: Admin = createKafkaClient(connection).admin();
  let database: TestSchema;

  beforeAll(async () => {
    await admin.connect();
    database = await createTestSchema();
  });
  afterAll(async () => {
    await admin.disconnect();
    await database.close();
  });

  const consumers: Consumer[] = [];
  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  });

  type Scenario = {
    topic: string;
    group: string;
    key: string;
    metrics: Metrics;
    /** Called with each step before it is applied. */
    beforeApply?: (step: number) => void;
  };
  const createScenario = async (partitions = 1): Promise<Scenario> => ({
    topic: await createTopic(partitions),
    group: createUniqueName("group"),
    key: createUniqueName("key"),
    metrics: createMetrics("test"),
  });

  const startTestConsumer = async (
    { topic, group, metrics, beforeApply }: Scenario,
    pool = database.pool,
    overrides: Partial<KafkaBusOptions> = {},
  ) => {
    const consumer = await startConsumer({
      bus: createTestBus({ metrics, ...overrides }),
      pool,
      group,
      handlers: [
        on(createTestEventType(topic), (tx, { step }, { key }) => {
          beforeApply?.(step);
          return writeEffect(tx, { key, step });
        }),
      ],
      clock: systemClock,
      log: silentLog,
      metrics,
    });
    consumers.push(consumer);
    return consumer;
  };

  const publish = ({ topic, key }: Scenario, ...steps: number[]) =>
    publishUntilStored(
      createTestBus(),
      steps.map((step) => createTestRecord(topic, { key, step })),
    );

  const expectAppliedSteps = async ({ key }: Scenario, ...steps: number[]) => {
    await eventually(
      () => readEffects(database.pool, key),
      (effects) => effects.length >= steps.length,
    );
    expect(await readEffects(database.pool, key)).toEqual(steps.map((step) => `${key}:${step}`));
  };

  const updatePosition = (sql: string, { group }: Scenario) =>
    database.admin.query(`UPDATE positions SET ${sql} WHERE consumer = $1`, [group]);

  /** Simulates a restore: deletes the effects after the given step and sets the position back. */
  const restoreDatabase = async (
    scenario: Scenario,
    { lastRestoredStep }: { lastRestoredStep: number },
  ) => {
    await database.admin.query("DELETE FROM effects WHERE key = $1 AND step > $2", [
      scenario.key,
      lastRestoredStep,
    ]);
    await updatePosition(`next_offset = ${lastRestoredStep}`, scenario);
  };

  const readResetReason = async ({ metrics }: Scenario) =>
    /reason="(\w+)"[^}]*\} 1/.exec(
      await metrics.getSingleMetricAsString("payment_links_bus_positions_reset_total"),
    )?.[1];

  test("a restored consumer rereads its missing records, although Kafka's offset is ahead (rule KEEP-5)", async () => {
    const scenario = await createScenario();
    const consumer = await startTestConsumer(scenario);
    await publish(scenario, 1, 2, 3);
    await expectAppliedSteps(scenario, 1, 2, 3);
    await consumer.stop();
    await restoreDatabase(scenario, { lastRestoredStep: 1 });
    await startTestConsumer(scenario);
    await expectAppliedSteps(scenario, 1, 2, 3);
    expect(await readResetReason(scenario)).toBeUndefined();
  });

  test("a running consumer rereads records whose commits its database lost", async () => {
    const scenario = await createScenario();
    await startTestConsumer(scenario);
    await publish(scenario, 1, 2, 3);
    await expectAppliedSteps(scenario, 1, 2, 3);
    await restoreDatabase(scenario, { lastRestoredStep: 1 });
    await publish(scenario, 4);
    await expectAppliedSteps(scenario, 1, 2, 3, 4);
  });

  test("a consumer rereads records whose commits its database lost, even if no new record arrives", async () => {
    const scenario = await createScenario();
    await startTestConsumer(scenario, database.pool, { positionCheckIntervalMs: 200 });
    await publish(scenario, 1, 2, 3);
    await expectAppliedSteps(scenario, 1, 2, 3);
    await restoreDatabase(scenario, { lastRestoredStep: 1 });
    await expectAppliedSteps(scenario, 1, 2, 3);
    expect(await readResetReason(scenario)).toBeUndefined();
  });

  describe("a batch that waits while a database with fewer commits takes over", () => {
    /** Step 4 is retried until `bringDatabaseBack` is called; the new database lacks steps 2 and 3. */
    const waitThroughFailOver = async () => {
      let [isDatabaseAway, attemptCount] = [true, 0];
      const baseScenario = await createScenario();
      const callbacks = { onDatabaseBack: () => {} };
      const beforeApply = (step: number) => {
        if (step !== 4) return;
        attemptCount += 1;
        // The error that Postgres returns while a standby takes over.
        if (isDatabaseAway) throw Object.assign(new Error("starting up"), { code: "57P03" });
        callbacks.onDatabaseBack();
      };
      const scenario = { ...baseScenario, beforeApply };
      const consumer = await startTestConsumer(scenario, database.pool, {
        positionCheckIntervalMs: 100,
      });
      await publish(scenario, 1, 2, 3);
      await expectAppliedSteps(scenario, 1, 2, 3);
      await publish(scenario, 4);
      const waitForAttempts = async (count: number) => {
        const attemptsBefore = attemptCount;
        await eventually(
          () => attemptCount,
          (attempts) => attempts >= attemptsBefore + count,
        );
      };
      await waitForAttempts(3);
      await restoreDatabase(scenario, { lastRestoredStep: 1 });
      // Each attempt spans several position checks.
      await waitForAttempts(2);
      return {
        consumer,
        scenario,
        callbacks,
        bringDatabaseBack: () => void (isDatabaseAway = false),
      };
    };

    test("does not skip any record", async () => {
      const { bringDatabaseBack, scenario } = await waitThroughFailOver();
      bringDatabaseBack();
      await expectAppliedSteps(scenario, 1, 2, 3, 4);
      expect(await readResetReason(scenario)).toBeUndefined();
    });

    test("does not skip any record when the process stops at that moment, because the next one applies the rest", async () => {
      const { bringDatabaseBack, consumer, scenario, callbacks } = await waitThroughFailOver();
      const consumerStopped = Promise.withResolvers<void>();
      callbacks.onDatabaseBack = () => consumerStopped.resolve(consumer.stop());
      bringDatabaseBack();
      await consumerStopped.promise;
      await publish(scenario, 5);
      await startTestConsumer(scenario);
      await expectAppliedSteps(scenario, 1, 2, 3, 4, 5);
    });
  });

  test("a position check that ends after the stop does not crash the process", async () => {
    const rejections: unknown[] = [];
    const recordRejection = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", recordRejection);
    const scenario = await createScenario();
    const consumer = await startTestConsumer(scenario, database.pool, {
      positionCheckIntervalMs: 100,
    });
    await publish(scenario, 1, 2);
    await expectAppliedSteps(scenario, 1, 2);
    const countBlockedQueries = () => countLockWaits(database.pool);
    await database.admin.query("BEGIN; LOCK TABLE positions");
    try {
      await updatePosition("next_offset = 1", scenario);
      await eventually(countBlockedQueries, (count) => count > 0);
      await consumer.stop();
    } finally {
      await database.admin.query("COMMIT");
    }
    await eventually(countBlockedQueries, (count) => count === 0);
    await database.pool.query(sqlVoid`SELECT FROM positions`);
    process.off("unhandledRejection", recordRejection);
    expect(rejections).toEqual([]);
  });

  test("stores positions for partitions without records on the first join", async () => {
    const scenario = await createScenario(3);
    await startTestConsumer(scenario);
    await eventually(
      () => database.admin.query("SELECT FROM positions WHERE consumer = $1", [scenario.group]),
      ({ rowCount }) => rowCount === 3,
    );
  });

  test("a watermark reaches each partition and carries the partition count (rule EVENT-2)", async () => {
    const scenario = await createScenario(3);
    await startTestConsumer(scenario);
    await createTestBus().publish([createWatermarkRecord(scenario.topic, "test", new Date())]);
    const { topic, group } = scenario;
    await eventually(
      () => findReceivedUntil(database.pool, { group, topic }),
      (receivedUntil) => receivedUntil !== undefined,
    );
  });

  test("a group without positions resumes at Kafka's committed offset", async () => {
    const scenario = await createScenario();
    const consumer = await startTestConsumer(scenario);
    await publish(scenario, 1, 2);
    await expectAppliedSteps(scenario, 1, 2);
    await consumer.stop();
    await database.admin.query("DELETE FROM positions WHERE consumer = $1", [scenario.group]);
    await publish(scenario, 3);
    await startTestConsumer(scenario);
    await expectAppliedSteps(scenario, 1, 2, 3);
  });

  test("does not deliver records before positions are read, however long the database is unavailable", async () => {
    const scenario = await createScenario();
    const firstConsumer = await startTestConsumer(scenario);
    await publish(scenario, 1, 2, 3);
    await expectAppliedSteps(scenario, 1, 2, 3);
    await firstConsumer.stop();
    await restoreDatabase(scenario, { lastRestoredStep: 1 });
    const url = new URL(database.url);
    const proxy = await startTcpProxy(url);
    url.port = String(proxy.port);
    const pool = await connectPool({
      url: url.href,
      applicationName: "away",
      connectionsMax: 2,
      log: silentLog,
    });
    await proxy.kill();
    const waitingConsumer = await startTestConsumer(scenario, pool);
    await eventually(
      () => scenario.metrics.getSingleMetricAsString("payment_links_consumer_waits_total"),
      hasCrashedTwice,
    );
    await proxy.forward();
    await expectAppliedSteps(scenario, 1, 2, 3);
    await waitingConsumer.stop();
    await pool.end();
    await proxy.kill();
  });

  test.each([
    ["of another cluster", "cluster_id = 'another'", "other_cluster"],
    ["past the end of the log", "next_offset = 1000", "log_lost"],
  ])(
    "a position %s is reported, and the log is read from its beginning (rule KEEP-5)",
    async (_, sql, reason) => {
      const scenario = await createScenario();
      const consumer = await startTestConsumer(scenario);
      await publish(scenario, 1);
      await expectAppliedSteps(scenario, 1);
      await consumer.stop();
      await updatePosition(sql, scenario);
      await publish(scenario, 2);
      await database.admin.query("DELETE FROM effects WHERE key = $1", [scenario.key]);
      await startTestConsumer(scenario);
      await expectAppliedSteps(scenario, 1, 2);
      expect(await readResetReason(scenario)).toBe(reason);
    },
  );

  test("unread records that were deleted are reported, and reading resumes at the log's new start", async () => {
    const scenario = await createScenario();
    const consumer = await startTestConsumer(scenario);
    await publish(scenario, 1);
    await expectAppliedSteps(scenario, 1);
    await consumer.stop();
    await publish(scenario, 2, 3);
    // kafkajs knows the leaders of a topic only after a request for that topic.
    await admin.fetchTopicOffsets(scenario.topic);
    await admin.deleteTopicRecords({
      topic: scenario.topic,
      partitions: [{ partition: 0, offset: "2" }],
    });
    await startTestConsumer(scenario);
    await expectAppliedSteps(scenario, 1, 3);
    expect(await readResetReason(scenario)).toBe("deleted_unread");
  });

  const recreateTopic = async ({ topic }: Scenario) => {
    await admin.deleteTopics({ topics: [topic] });
    await eventually(
      () => admin.listTopics(),
      (topics) => !topics.includes(topic),
    );
    const topics = { [topic]: { partitions: 1, config: {} } };
    await ensureTopics({ ...connection, replicationFactor: 1, topics });
  };

  test("a log that is lost under a running consumer is read from its beginning", async () => {
    const scenario = await createScenario();
    await startTestConsumer(scenario);
    await publish(scenario, 1, 2, 3);
    await expectAppliedSteps(scenario, 1, 2, 3);
    await recreateTopic(scenario);
    await publish(scenario, 4);
    await expectAppliedSteps(scenario, 1, 2, 3, 4);
    expect(await readResetReason(scenario)).toBe("log_lost");
  });

  test("detects a lost log even if the new one has grown past the position", async () => {
    const scenario = await createScenario();
    const consumer = await startTestConsumer(scenario);
    await publish(scenario, 1, 2, 3);
    await expectAppliedSteps(scenario, 1, 2, 3);
    await consumer.stop();
    await recreateTopic(scenario);
    await publish(scenario, 4, 5, 6, 7, 8);
    await startTestConsumer(scenario);
    await expectAppliedSteps(scenario, 1, 2, 3, 4, 5, 6, 7, 8);
    expect(await readResetReason(scenario)).toBe("log_lost");
  });
});

const readCrashCounter = (metrics: Metrics): Promise<string> =>
  metrics.getSingleMetricAsString("payment_links_bus_consumer_crashes_total");

const hasCrashed = (text: string): boolean => /} [1-9]/.test(text);

const hasCrashedTwice = (text: string): boolean => /} (?:[2-9]|\d\d)/.test(text);

/** Drops every response of the brokers, like a network that fails in one direction. */
const dropBrokerResponses = (): (() => void) => {
  const ports = new Set(brokers.map((broker) => Number(broker.split(":").at(-1))));
  // oxlint-disable-next-line typescript/unbound-method -- each call binds it again.
  const { emit } = Socket.prototype;
  Socket.prototype.emit = function dropData(
    this: Socket,
    name: string | symbol,
    ...args: unknown[]
  ) {
    if (name === "data" && ports.has(this.remotePort ?? 0)) return true;
    return Reflect.apply(emit, this, [name, ...args]) === true;
  };
  return () => {
    Socket.prototype.emit = emit;
  };
};
