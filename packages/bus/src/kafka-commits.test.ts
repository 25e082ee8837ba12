import { createRequire } from "node:module";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { OffsetsByTopicPartition } from "kafkajs";
import { type Metrics, openMetrics, systemClock } from "@payment-links/runtime";
import type { Bus } from "./bus.ts";
import { startConsumer } from "./consumer.ts";
import { createKafkaBus } from "./kafka-bus.ts";
import { openKafka } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { on } from "./reaction.ts";
import {
  type TestSchema,
  eventually,
  fresh,
  labelOf,
  openTestSchema,
  quietLog,
  readEffects,
  testEvent,
  testRecord,
  writeEffect,
} from "./testing/rig.ts";
import { testBrokers } from "./testing/test-brokers.ts";

const connection = { brokers: testBrokers(), clientId: "commits-test", log: quietLog };

type Commit = OffsetsByTopicPartition & { groupId: string };
type Join = { groupId: string; memberId: string };
/** kafkajs' way to a broker: the last place before the network where a commit can be held. */
type Broker = {
  offsetCommit(commit: Commit): Promise<unknown>;
  joinGroup(join: Join): Promise<unknown>;
};

const require = createRequire(import.meta.url);
const broker = (require("kafkajs/src/broker/index.js") as { prototype: Broker }).prototype;
const original = {
  offsetCommit: Reflect.get(broker, "offsetCommit"),
  joinGroup: Reflect.get(broker, "joinGroup"),
};

type Requests = {
  /** How many commits were begun. */
  commitCount: number;
  /** The last offsets that were sent, by group, topic and partition. */
  committed: Map<string, number>;
  /** What a commit does before it is sent. */
  onCommit: () => Promise<void>;
  /** Called where a member asks to join its group anew. */
  onRejoin: (groupId: string) => void;
};
let requests: Requests;

beforeEach(() => {
  requests = {
    commitCount: 0,
    committed: new Map(),
    onCommit: async () => {},
    onRejoin: () => {},
  };
  broker.offsetCommit = async function commit(this: Broker, given) {
    requests.commitCount += 1;
    await requests.onCommit();
    for (const { topic, partitions } of given.topics) {
      for (const { partition, offset } of partitions) {
        requests.committed.set(`${given.groupId}/${topic}/${partition}`, Number(offset));
      }
    }
    return original.offsetCommit.call(this, given);
  };
  broker.joinGroup = function join(this: Broker, given) {
    if (given.memberId !== "") requests.onRejoin(given.groupId);
    return original.joinGroup.call(this, given);
  };
});

afterEach(() => {
  Object.assign(broker, original);
});

describe("offsets over Kafka", () => {
  const admin = openKafka(connection).admin();
  const opened: Bus[] = [];

  beforeAll(() => admin.connect());
  afterAll(() => admin.disconnect());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((bus) => bus.close()));
  });

  const openBus = (metrics = openMetrics("test")): Bus => {
    const bus = createKafkaBus({ ...connection, metrics });
    opened.push(bus);
    return bus;
  };

  const prepare = async (partitions = 1) => {
    const [topic, group] = [fresh("topic"), fresh("group")];
    const topics = { [topic]: { partitions, config: {} } };
    await ensureTopics({ ...connection, replicationFactor: 1, topics });
    return { topic, group };
  };

  /** Joins the group, and keeps what the member hears. */
  const join = async ({ topic, group }: { topic: string; group: string }, bus = openBus()) => {
    const labels: string[] = [];
    const subscription = await bus.subscribe({
      group,
      topics: [topic],
      handle: async (records) => {
        labels.push(...records.map(labelOf));
        return { handledCount: records.length };
      },
    });
    const hears = (label: string) =>
      eventually(
        () => labels,
        () => labels.includes(label),
      );
    return { ...subscription, labels, hears };
  };

  const committedIn = async ({ topic, group }: { topic: string; group: string }) => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return found?.partitions.map(({ offset }) => Number(offset));
  };

  test("records are fetched and handled while a commit hangs, and no other is begun", async () => {
    const place = await prepare();
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    requests.onCommit = () => gate;
    const [sender, member] = [openBus(), await join(place)];
    let step = 0;
    const sendAndHear = async () => {
      step += 1;
      await sender.publish([testRecord(place.topic, { key: "a", step })]);
      await member.hears(`a:${step}`);
    };
    while (requests.commitCount === 0) await sendAndHear();
    for (let more = 0; more < 20; more += 1) await sendAndHear();
    expect(requests.commitCount).toBe(1);
    openGate();
    await eventually(
      () => committedIn(place),
      (committed) => committed?.[0] === step,
    );
    expect(requests.commitCount).toBeLessThan(step / 2);
  });

  test("a member that stops has committed what it handled", async () => {
    const place = await prepare();
    const [sender, member] = [openBus(), await join(place)];
    for (const step of [1, 2, 3]) {
      await sender.publish([testRecord(place.topic, { key: "a", step })]);
      await member.hears(`a:${step}`);
    }
    await member.stop();
    expect(await committedIn(place)).toEqual([3]);
  });

  test("a member that stops while a commit hangs ends, and commits all the same", async () => {
    const place = await prepare();
    requests.onCommit = () => new Promise(() => {});
    const [sender, member] = [openBus(), await join(place)];
    let step = 0;
    while (requests.commitCount === 0) {
      step += 1;
      await sender.publish([testRecord(place.topic, { key: "a", step })]);
      await member.hears(`a:${step}`);
    }
    requests.onCommit = async () => {};
    await member.stop();
    expect(await committedIn(place)).toEqual([step]);
  });

  test("before it joins anew, a member commits what it handled; the next one hears none of that", async () => {
    const place = await prepare(2);
    const [sender, first] = [openBus(), await join(place)];
    let known: { heard: number; committed: number } | undefined;
    requests.onRejoin = (groupId) => {
      if (groupId !== place.group) return;
      const committed = [...requests.committed.values()].reduce((sum, offset) => sum + offset, 0);
      known ??= { heard: first.labels.length, committed };
    };
    let step = 0;
    const sendOn = async () => {
      step += 1;
      await sender.publish(
        ["a", "b", "c", "d"].map((key) => testRecord(place.topic, { key, step })),
      );
    };
    await sendOn();
    await first.hears("a:1");
    const second = await join(place);
    while (second.labels.length === 0) await sendOn();
    expect(known?.committed).toBe(known?.heard);
    expect(second.labels.filter((label) => first.labels.includes(label))).toEqual([]);
  });

  test("a failed commit is counted and tried again; after five another member takes its place", async () => {
    const place = await prepare();
    const metrics = openMetrics("test");
    requests.onCommit = () => Promise.reject(new Error("refused"));
    const [sender, member] = [openBus(), await join(place, openBus(metrics))];
    await sender.publish([testRecord(place.topic, { key: "a", step: 1 })]);
    await eventually(
      () => valueOf(metrics, "payment_links_bus_consumer_crashes_total"),
      (crashes) => crashes === 1,
    );
    expect(await valueOf(metrics, "payment_links_bus_offset_commit_failures_total")).toBe(5);
    requests.onCommit = async () => {};
    await eventually(
      () => committedIn(place),
      (committed) => committed?.[0] === 1,
    );
    expect(member.labels).toEqual(["a:1", "a:1"]);
  });

  describe("of a consumer", () => {
    let database: TestSchema;

    beforeAll(async () => {
      database = await openTestSchema();
    });
    afterAll(() => database.close());

    test("what a member handled and never committed takes effect once", async () => {
      const place = await prepare();
      requests.onCommit = () => Promise.reject(new Error("the member has died"));
      const [key, sender] = [fresh("key"), openBus()];
      const handled: number[] = [];
      const start = () =>
        startConsumer({
          bus: openBus(),
          pool: database.pool,
          group: place.group,
          reactions: [
            on(testEvent(place.topic), async (tx, { step }) => {
              handled.push(step);
              await writeEffect(tx, { key, step });
            }),
          ],
          clock: systemClock,
          log: quietLog,
          metrics: openMetrics("test"),
        });
      const has = (...steps: number[]) =>
        eventually(
          () => readEffects(database.pool, key),
          (effects) => effects.length === steps.length,
        );
      const dying = await start();
      await sender.publish([1, 2].map((step) => testRecord(place.topic, { key, step })));
      await has(1, 2);
      await dying.stop();
      expect(await committedIn(place)).toEqual([-1]);
      const next = await start();
      await sender.publish([testRecord(place.topic, { key, step: 3 })]);
      await has(1, 2, 3);
      await next.stop();
      expect(handled).toEqual([1, 2, 3]);
    });
  });
});

const valueOf = async (metrics: Metrics, name: string): Promise<number | undefined> => {
  const found = await metrics.getSingleMetric(name)?.get();
  return found?.values[0]?.value;
};
