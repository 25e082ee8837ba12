import { createRequire } from "node:module";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { OffsetsByTopicPartition } from "kafkajs";
import { type Metrics, createMetrics, systemClock } from "@payment-links/runtime";
import type { Bus } from "./bus.ts";
import { startConsumer } from "./consumer.ts";
import { createKafkaBus } from "./kafka-bus.ts";
import { createKafkaClient } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { on } from "./event-handlers.ts";
import {
  type TestSchema,
  eventually,
  createUniqueName,
  formatLabel,
  createTestSchema,
  silentLog,
  readEffects,
  createTestEventType,
  createTestRecord,
  writeEffect,
} from "./testing/rig.ts";
import { getTestBrokers } from "./testing/test-brokers.ts";

const connection = { brokers: getTestBrokers(), clientId: "commits-test", log: silentLog };

type Commit = OffsetsByTopicPartition & { groupId: string };
type Join = { groupId: string; memberId: string };
/**
 * kafkajs' connection to a broker. It is the last point before the network at which a test can
 * delay a commit.
 */
type Broker = {
  offsetCommit(commit: Commit): Promise<unknown>;
  joinGroup(join: Join): Promise<unknown>;
};

const require = createRequire(import.meta.url);
const broker = (require("kafkajs/src/broker/index.js") as { prototype: Broker }).prototype;
const originalMethods = {
  offsetCommit: Reflect.get(broker, "offsetCommit"),
  joinGroup: Reflect.get(broker, "joinGroup"),
};

type BrokerRequests = {
  /** The number of commits that were started. */
  commitCount: number;
  /** The last offsets sent, keyed by group, topic and partition. */
  committed: Map<string, number>;
  /** Called before a commit is sent. */
  onCommit: () => Promise<void>;
  /** Called when a member asks to rejoin its group. */
  onRejoin: (groupId: string) => void;
};
let requests: BrokerRequests;

beforeEach(() => {
  requests = {
    commitCount: 0,
    committed: new Map(),
    onCommit: async () => {},
    onRejoin: () => {},
  };
  broker.offsetCommit = async function commitOffsets(this: Broker, request) {
    requests.commitCount += 1;
    await requests.onCommit();
    for (const { topic, partitions } of request.topics) {
      for (const { partition, offset } of partitions) {
        requests.committed.set(`${request.groupId}/${topic}/${partition}`, Number(offset));
      }
    }
    return originalMethods.offsetCommit.call(this, request);
  };
  broker.joinGroup = function joinGroup(this: Broker, request) {
    if (request.memberId !== "") requests.onRejoin(request.groupId);
    return originalMethods.joinGroup.call(this, request);
  };
});

afterEach(() => {
  Object.assign(broker, originalMethods);
});

describe("offset commits over Kafka", () => {
  const admin = createKafkaClient(connection).admin();
  const createdBuses: Bus[] = [];

  beforeAll(() => admin.connect());
  afterAll(() => admin.disconnect());
  afterEach(async () => {
    await Promise.all(createdBuses.splice(0).map((bus) => bus.close()));
  });

  const createTestBus = (metrics = createMetrics("test")): Bus => {
    const bus = createKafkaBus({ ...connection, metrics });
    createdBuses.push(bus);
    return bus;
  };

  const createTopicAndGroup = async (partitions = 1) => {
    const [topic, group] = [createUniqueName("topic"), createUniqueName("group")];
    const topics = { [topic]: { partitions, config: {} } };
    await ensureTopics({ ...connection, replicationFactor: 1, topics });
    return { topic, group };
  };

  /** Joins the group and records what the member receives. */
  const joinTestGroup = async (
    { topic, group }: { topic: string; group: string },
    bus = createTestBus(),
  ) => {
    const labels: string[] = [];
    const subscription = await bus.subscribe({
      group,
      topics: [topic],
      handle: async (records) => {
        labels.push(...records.map(formatLabel));
        return { handledCount: records.length };
      },
    });
    const waitForLabel = (label: string) =>
      eventually(
        () => labels,
        () => labels.includes(label),
      );
    return { ...subscription, labels, waitForLabel };
  };

  const readCommittedOffsets = async ({ topic, group }: { topic: string; group: string }) => {
    const [groupOffsets] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return groupOffsets?.partitions.map(({ offset }) => Number(offset));
  };

  test("fetches and handles records while a commit hangs, without starting another commit", async () => {
    const topicAndGroup = await createTopicAndGroup();
    const { promise: latch, resolve: releaseLatch } = Promise.withResolvers<void>();
    requests.onCommit = () => latch;
    const [senderBus, member] = [createTestBus(), await joinTestGroup(topicAndGroup)];
    let step = 0;
    const publishAndWait = async () => {
      step += 1;
      await senderBus.publish([createTestRecord(topicAndGroup.topic, { key: "a", step })]);
      await member.waitForLabel(`a:${step}`);
    };
    while (requests.commitCount === 0) await publishAndWait();
    for (let round = 0; round < 20; round += 1) await publishAndWait();
    expect(requests.commitCount).toBe(1);
    releaseLatch();
    await eventually(
      () => readCommittedOffsets(topicAndGroup),
      (committed) => committed?.[0] === step,
    );
    expect(requests.commitCount).toBeLessThan(step / 2);
  });

  test("commits the handled records when a member stops", async () => {
    const topicAndGroup = await createTopicAndGroup();
    const [senderBus, member] = [createTestBus(), await joinTestGroup(topicAndGroup)];
    for (const step of [1, 2, 3]) {
      await senderBus.publish([createTestRecord(topicAndGroup.topic, { key: "a", step })]);
      await member.waitForLabel(`a:${step}`);
    }
    await member.stop();
    expect(await readCommittedOffsets(topicAndGroup)).toEqual([3]);
  });

  test("stops while a commit hangs, and still commits", async () => {
    const topicAndGroup = await createTopicAndGroup();
    requests.onCommit = () => new Promise(() => {});
    const [senderBus, member] = [createTestBus(), await joinTestGroup(topicAndGroup)];
    let step = 0;
    while (requests.commitCount === 0) {
      step += 1;
      await senderBus.publish([createTestRecord(topicAndGroup.topic, { key: "a", step })]);
      await member.waitForLabel(`a:${step}`);
    }
    requests.onCommit = async () => {};
    await member.stop();
    expect(await readCommittedOffsets(topicAndGroup)).toEqual([step]);
  });

  test("commits before a member rejoins, so the next member receives no duplicates", async () => {
    const topicAndGroup = await createTopicAndGroup(2);
    const [senderBus, firstMember] = [createTestBus(), await joinTestGroup(topicAndGroup)];
    let countsAtRejoin: { receivedCount: number; committedCount: number } | undefined;
    requests.onRejoin = (groupId) => {
      if (groupId !== topicAndGroup.group) return;
      const committedCount = [...requests.committed.values()].reduce(
        (sum, offset) => sum + offset,
        0,
      );
      countsAtRejoin ??= { receivedCount: firstMember.labels.length, committedCount };
    };
    let step = 0;
    const publishNextStep = async () => {
      step += 1;
      await senderBus.publish(
        ["a", "b", "c", "d"].map((key) => createTestRecord(topicAndGroup.topic, { key, step })),
      );
    };
    await publishNextStep();
    await firstMember.waitForLabel("a:1");
    const secondMember = await joinTestGroup(topicAndGroup);
    while (secondMember.labels.length === 0) await publishNextStep();
    expect(countsAtRejoin?.committedCount).toBe(countsAtRejoin?.receivedCount);
    expect(secondMember.labels.filter((label) => firstMember.labels.includes(label))).toEqual([]);
  });

  test("counts and retries a failed commit, and replaces the consumer after five failures", async () => {
    const topicAndGroup = await createTopicAndGroup();
    const metrics = createMetrics("test");
    requests.onCommit = () => Promise.reject(new Error("refused"));
    const [senderBus, member] = [
      createTestBus(),
      await joinTestGroup(topicAndGroup, createTestBus(metrics)),
    ];
    await senderBus.publish([createTestRecord(topicAndGroup.topic, { key: "a", step: 1 })]);
    await eventually(() => readMetricValue(metrics, "payment_links_bus_consumer_crashes_total"), 1);
    expect(await readMetricValue(metrics, "payment_links_bus_offset_commit_failures_total")).toBe(
      5,
    );
    requests.onCommit = async () => {};
    await eventually(
      () => readCommittedOffsets(topicAndGroup),
      (committed) => committed?.[0] === 1,
    );
    expect(member.labels).toEqual(["a:1", "a:1"]);
  });

  describe("with a consumer", () => {
    let database: TestSchema;

    beforeAll(async () => {
      database = await createTestSchema();
    });
    afterAll(() => database.close());

    test("applies records exactly once when a member dies before its commit", async () => {
      const topicAndGroup = await createTopicAndGroup();
      requests.onCommit = () => Promise.reject(new Error("the member has died"));
      const [key, senderBus] = [createUniqueName("key"), createTestBus()];
      const handledSteps: number[] = [];
      const startTestConsumer = () =>
        startConsumer({
          bus: createTestBus(),
          pool: database.pool,
          group: topicAndGroup.group,
          handlers: [
            on(createTestEventType(topicAndGroup.topic), async (tx, { step }) => {
              handledSteps.push(step);
              await writeEffect(tx, { key, step });
            }),
          ],
          clock: systemClock,
          log: silentLog,
          metrics: createMetrics("test"),
        });
      const waitForEffects = (...steps: number[]) =>
        eventually(
          () => readEffects(database.pool, key),
          (effects) => effects.length === steps.length,
        );
      const dyingConsumer = await startTestConsumer();
      await senderBus.publish(
        [1, 2].map((step) => createTestRecord(topicAndGroup.topic, { key, step })),
      );
      await waitForEffects(1, 2);
      await dyingConsumer.stop();
      expect(await readCommittedOffsets(topicAndGroup)).toEqual([-1]);
      const nextConsumer = await startTestConsumer();
      await senderBus.publish([createTestRecord(topicAndGroup.topic, { key, step: 3 })]);
      await waitForEffects(1, 2, 3);
      await nextConsumer.stop();
      expect(handledSteps).toEqual([1, 2, 3]);
    });
  });
});

const readMetricValue = async (metrics: Metrics, name: string): Promise<number | undefined> => {
  const metric = await metrics.getSingleMetric(name)?.get();
  return metric?.values[0]?.value;
};
