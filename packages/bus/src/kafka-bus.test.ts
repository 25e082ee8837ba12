import { createRequire } from "node:module";
import { mock } from "node:test";
import { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import kafkajs, { type Admin, Partitioners } from "kafkajs";
import { nothing, openPool } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { type Metrics, openMetrics, systemClock } from "@payment-links/runtime";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { testBusContract } from "./bus.contract.ts";
import type { Bus, ReceivedRecord } from "./bus.ts";
import { type Consumer, startConsumer } from "./consumer.ts";
import { type KafkaBus, type KafkaBusOptions, createKafkaBus } from "./kafka-bus.ts";
import { openKafka } from "./kafka-client.ts";
import { ensureTopics } from "./kafka-topics.ts";
import { findHeardUntil, markRecord } from "./marks.ts";
import { on } from "./reaction.ts";
import {
  type TestSchema,
  eventually,
  fresh,
  labelOf,
  openTestSchema,
  quietLog,
  readEffects,
  send,
  testEvent,
  testRecord,
  writeEffect,
} from "./testing/rig.ts";
import { testBrokers } from "./testing/test-brokers.ts";

const brokers = testBrokers();
const connection = { brokers, clientId: "bus-test", log: quietLog };

const opened: Bus[] = [];

const openBus = (more: Partial<KafkaBusOptions> = {}): KafkaBus => {
  const bus = createKafkaBus({
    ...connection,
    metrics: openMetrics("test"),
    ...more,
  });
  opened.push(bus);
  return bus;
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

const makeTopic = async (partitions = 3): Promise<string> => {
  const topic = fresh("topic");
  const topics = { [topic]: { partitions, config: {} } };
  await ensureTopics({ ...connection, replicationFactor: 1, topics });
  return topic;
};

testBusContract("Kafka", { open: () => openBus(), makeTopic });

describe("Kafka bus", () => {
  const admin: Admin = openKafka(connection).admin();

  beforeAll(() => admin.connect());
  afterAll(() => admin.disconnect());

  test("makes missing topics and their dead-letter topics, and no others", async () => {
    const topic = fresh("topic");
    const config = { "cleanup.policy": "compact", "min.compaction.lag.ms": "1000" };
    const ensure = (partitions: number) =>
      ensureTopics({
        ...connection,
        replicationFactor: 1,
        topics: { [topic]: { partitions, config } },
      });
    expect(await ensure(5)).toEqual([topic, `${topic}.dead-letter`]);
    expect(await ensure(7)).toEqual([]);
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic, `${topic}.dead-letter`] });
    const partitionsOf = (name: string) =>
      topics.find((found) => found.name === name)?.partitions.length;
    expect([partitionsOf(topic), partitionsOf(`${topic}.dead-letter`)]).toEqual([5, 1]);
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

  test("a topic that was never made is refused, not made; what follows is sent", async () => {
    const bus = openBus();
    const [known, unknown] = [await makeTopic(), fresh("topic")];
    const record = testRecord(known, { key: "a", step: 1 });
    await expect(
      bus.publish([record, testRecord(unknown, { key: "a", step: 1 })]),
    ).rejects.toThrow();
    await bus.publish([record]);
    expect(await admin.listTopics()).not.toContain(unknown);
  });

  test("records of a stranger arrive, whatever they lack", async () => {
    const topic = await makeTopic(1);
    const producer = openKafka(connection).producer({
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
    const bus = openBus();
    const received: ReceivedRecord[] = [];
    await bus.subscribe({
      group: fresh("group"),
      topics: [topic],
      handle: async (records) => {
        received.push(...records);
        return { handledCount: records.length };
      },
    });
    await eventually(
      () => received,
      (records) => records.length === 3,
    );
    expect(received).toMatchObject([
      { key: undefined, value: undefined, headers: {}, offset: "0" },
      { key: "\0\uFFFD\uFFFD", value: Buffer.from([0xff]), offset: "1" },
      { key: "a", headers: { plain: "b", bytes: "c", twice: "e" }, offset: "2" },
    ]);
  });

  test("a subscription that rests takes what comes meanwhile together, and stops at once all the same", async () => {
    const topic = await makeTopic(1);
    const bus = openBus();
    const restMs = 400;
    const begun: number[] = [];
    let handledCount = 0;
    const subscribe = (restMs: number) =>
      bus.subscribe({
        group: fresh("group"),
        topics: [topic],
        restMs,
        handle: async (records) => {
          begun.push(performance.now());
          handledCount += records.length;
          return { handledCount: records.length };
        },
      });
    const resting = await subscribe(restMs);
    for (let step = 1; step <= 20; step += 1) {
      await bus.publish([testRecord(topic, { key: "a", step })]);
    }
    await eventually(
      () => handledCount,
      (count) => count === 20,
    );
    await resting.stop();
    const gapsMs = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
    // A timer may come a millisecond early.
    expect(gapsMs.filter((gapMs) => gapMs < restMs - 2)).toEqual([]);

    const sleeping = await subscribe(3_600_000);
    await eventually(
      () => handledCount,
      (count) => count === 40,
    );
    await sleeping.stop();
  });

  test("a subscription that rests goes on where the machine's clock is set back while it handles", async () => {
    const topic = await makeTopic(1);
    let handledCount = 0;
    const setBack = () => mock.timers.enable({ apis: ["Date"], now: Date.now() - 60 * 60_000 });
    try {
      const subscription = await openBus().subscribe({
        group: fresh("group"),
        topics: [topic],
        restMs: 100,
        handle: async (records) => {
          if (handledCount === 0) setBack();
          handledCount += records.length;
          return { handledCount: records.length };
        },
      });
      const sender = openBus();
      for (const step of [1, 2]) {
        await send(sender, [testRecord(topic, { key: "a", step })]);
        await eventually(
          () => handledCount,
          (count) => count === step,
        );
      }
      await subscription.stop();
    } finally {
      mock.timers.reset();
    }
  });

  test("a consumer whose brokers are away waits for them, is not stalled, and can be stopped", async () => {
    const metrics = openMetrics("test");
    const silenceMsMax = provokedTimeoutMs(200);
    const bus = openBus({ brokers: ["127.0.0.1:9"], metrics, silenceMsMax });
    const handle = async () => ({ handledCount: 0 });
    await bus.subscribe({ group: fresh("group"), topics: ["any"], handle });
    await eventually(() => crashesOf(metrics), hasCrashed);
    expect(bus.stalledGroups()).toEqual([]);
    await expect(bus.publish([testRecord("any", { key: "a", step: 1 })])).rejects.toThrow();
    await bus.close();
  });

  test("a consumer that Kafka refuses is tried again for as long as it takes", async () => {
    const metrics = openMetrics("test");
    const bus = openBus({
      metrics,
      sasl: { mechanism: "plain", username: "nobody", password: "wrong" },
    });
    const handle = async () => ({ handledCount: 0 });
    await bus.subscribe({ group: fresh("group"), topics: ["any"], handle });
    await eventually(() => crashesOf(metrics), hasCrashedAgain);
    expect(bus.stalledGroups()).toEqual([]);
  });

  // A member that will not rejoin holds up its whole group. That is a real silence: the broker
  // answers, and a new member is neither let in nor refused.
  test("a consumer that is silent while its broker answers is stalled, until it fetches", async () => {
    const topic = await makeTopic(1);
    const group = fresh("group");
    const holder = openKafka(connection).consumer({
      groupId: group,
      sessionTimeout: 60_000,
      rebalanceTimeout: 60_000,
    });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    await holder.connect();
    await holder.subscribe({ topics: [topic], fromBeginning: true });
    await holder.run({ eachBatch: () => (hold(), released) });
    const bus = openBus({ silenceMsMax: provokedTimeoutMs(2_000) });
    await bus.publish([testRecord(topic, { key: "a", step: 1 })]);
    await held;
    await bus.subscribe({
      group,
      topics: [topic],
      handle: async (records) => ({ handledCount: records.length }),
    });
    expect(bus.stalledGroups()).toEqual([]);
    await eventually(
      () => bus.stalledGroups(),
      (stalled) => stalled[0] === group,
    );
    release();
    await holder.disconnect();
    await eventually(
      () => bus.stalledGroups(),
      (stalled) => stalled.length === 0,
    );
  });

  test("a connection with nothing to do does not wake the process", async () => {
    type Queue = { prototype: { checkPendingRequests: () => void } };
    const require = createRequire(import.meta.url);
    const { prototype } = require("kafkajs/src/network/requestQueue/index.js") as Queue;
    const bus = openBus();
    const topic = await makeTopic();
    const setInterval = mock.method(globalThis, "setInterval");
    await bus.publish([testRecord(topic, { key: "a", step: 1 })]);
    const periodsMs = setInterval.mock.calls.map(({ arguments: [, ms = 0] }) => ms);
    setInterval.mock.restore();
    expect(Math.min(...periodsMs)).toBe(2_000);
    const original = prototype.checkPendingRequests;
    let wakeUps = 0;
    prototype.checkPendingRequests = function count() {
      wakeUps += 1;
      original.call(this);
    };
    // Idleness shows only as time passes: unpatched, this second has some 700 wake-ups.
    await injectDelay("quiet period", 1_000);
    prototype.checkPendingRequests = original;
    await bus.close();
    expect(wakeUps).toBeLessThan(20);
  });

  // kafkajs would number what follows with the numbers of what failed; a broker that had kept the
  // failed ones takes the others for repeats, acknowledges them and drops them. Without care "c" is
  // lost here.
  test("what is acknowledged after a send without an answer is kept", async () => {
    const topic = await makeTopic(1);
    const bus = openBus();
    const publish = (key: string) => bus.publish([testRecord(topic, { key, step: 1 })]);
    await publish("a");
    const speakAgain = silenceBrokers();
    await expect(publish("b")).rejects.toThrow();
    speakAgain();
    await publish("c");
    await publish("d");
    const labels: string[] = [];
    await bus.subscribe({
      group: fresh("group"),
      topics: [topic],
      handle: async (records) => {
        labels.push(...records.map(labelOf));
        return { handledCount: records.length };
      },
    });
    await eventually(
      () => labels,
      (heard) => heard.includes("d:1"),
    );
    expect(labels).toEqual(["a:1", "b:1", "c:1", "d:1"]);
  });

  test("sends that overlap are kept in the order of their calls", async () => {
    const topic = await makeTopic(1);
    const bus = openBus();
    const steps = Array.from({ length: 50 }, (_, step) => step);
    await Promise.all(steps.map((step) => bus.publish([testRecord(topic, { key: "a", step })])));
    const labels: string[] = [];
    await bus.subscribe({
      group: fresh("group"),
      topics: [topic],
      handle: async (records) => {
        labels.push(...records.map(labelOf));
        return { handledCount: records.length };
      },
    });
    await eventually(
      () => labels,
      (heard) => heard.length === 50,
    );
    expect(labels).toEqual(steps.map((step) => `a:${step}`));
  });
});

describe("a group's positions over Kafka", () => {
  const admin: Admin = openKafka(connection).admin();
  let database: TestSchema;

  beforeAll(async () => {
    await admin.connect();
    database = await openTestSchema();
  });
  afterAll(async () => {
    await admin.disconnect();
    await database.close();
  });

  const consumers: Consumer[] = [];
  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  });

  type Heard = {
    topic: string;
    group: string;
    key: string;
    metrics: Metrics;
    /** Called with each step before it is applied. */
    meets?: (step: number) => void;
  };
  const prepare = async (partitions = 1): Promise<Heard> => ({
    topic: await makeTopic(partitions),
    group: fresh("group"),
    key: fresh("key"),
    metrics: openMetrics("test"),
  });

  const start = async (
    { topic, group, metrics, meets }: Heard,
    pool = database.pool,
    more: Partial<KafkaBusOptions> = {},
  ) => {
    const consumer = await startConsumer({
      bus: openBus({ metrics, ...more }),
      pool,
      group,
      reactions: [
        on(testEvent(topic), (tx, { step }, { key }) => {
          meets?.(step);
          return writeEffect(tx, { key, step });
        }),
      ],
      clock: systemClock,
      log: quietLog,
      metrics,
    });
    consumers.push(consumer);
    return consumer;
  };

  const publish = ({ topic, key }: Heard, ...steps: number[]) =>
    send(
      openBus(),
      steps.map((step) => testRecord(topic, { key, step })),
    );

  const hears = async ({ key }: Heard, ...steps: number[]) => {
    await eventually(
      () => readEffects(database.pool, key),
      (effects) => effects.length >= steps.length,
    );
    expect(await readEffects(database.pool, key)).toEqual(steps.map((step) => `${key}:${step}`));
  };

  const change = (sql: string, { group }: Heard) =>
    database.admin.query(`UPDATE positions SET ${sql} WHERE consumer = $1`, [group]);

  /** As a restore does it: what was applied since is gone, and the position is what it was. */
  const restore = async (heard: Heard, { stepsKept }: { stepsKept: number }) => {
    await database.admin.query("DELETE FROM effects WHERE key = $1 AND step > $2", [
      heard.key,
      stepsKept,
    ]);
    await change(`next_offset = ${stepsKept}`, heard);
  };

  const resetsOf = async ({ metrics }: Heard) =>
    /reason="(\w+)"[^}]*\} 1/.exec(
      await metrics.getSingleMetricAsString("payment_links_bus_positions_reset_total"),
    )?.[1];

  test("a restored database reads again what it lacks, although Kafka's offset lies behind it (rule KEEP-5)", async () => {
    const heard = await prepare();
    const consumer = await start(heard);
    await publish(heard, 1, 2, 3);
    await hears(heard, 1, 2, 3);
    await consumer.stop();
    await restore(heard, { stepsKept: 1 });
    await start(heard);
    await hears(heard, 1, 2, 3);
    expect(await resetsOf(heard)).toBeUndefined();
  });

  test("a database that loses commits under a running consumer reads them again", async () => {
    const heard = await prepare();
    await start(heard);
    await publish(heard, 1, 2, 3);
    await hears(heard, 1, 2, 3);
    await restore(heard, { stepsKept: 1 });
    await publish(heard, 4);
    await hears(heard, 1, 2, 3, 4);
  });

  test("one that loses commits hears them again although nothing else comes", async () => {
    const heard = await prepare();
    await start(heard, database.pool, { positionsEveryMs: 200 });
    await publish(heard, 1, 2, 3);
    await hears(heard, 1, 2, 3);
    await restore(heard, { stepsKept: 1 });
    await hears(heard, 1, 2, 3);
    expect(await resetsOf(heard)).toBeUndefined();
  });

  describe("a batch that waits for the database while one takes over that has less", () => {
    /** Step 4 meets a database that takes over, until it is back, which lacks steps 2 and 3 then. */
    const waitThroughFailOver = async () => {
      let [isAway, tries] = [true, 0];
      const prepared = await prepare();
      const met = { isBack: () => {} };
      const meets = (step: number) => {
        if (step !== 4) return;
        tries += 1;
        // As Postgres answers while a standby takes over.
        if (isAway) throw Object.assign(new Error("starting up"), { code: "57P03" });
        met.isBack();
      };
      const heard = { ...prepared, meets };
      const consumer = await start(heard, database.pool, { positionsEveryMs: 100 });
      await publish(heard, 1, 2, 3);
      await hears(heard, 1, 2, 3);
      await publish(heard, 4);
      const triedMore = async (count: number) => {
        const before = tries;
        await eventually(
          () => tries,
          (now) => now >= before + count,
        );
      };
      await triedMore(3);
      await restore(heard, { stepsKept: 1 });
      // Each waits for many a look at the positions.
      await triedMore(2);
      return { consumer, heard, met, comesBack: () => void (isAway = false) };
    };

    test("skips nothing", async () => {
      const { comesBack, heard } = await waitThroughFailOver();
      comesBack();
      await hears(heard, 1, 2, 3, 4);
      expect(await resetsOf(heard)).toBeUndefined();
    });

    test("nor where the process is stopped just then: the next one applies what is missing", async () => {
      const { comesBack, consumer, heard, met } = await waitThroughFailOver();
      const stopped = Promise.withResolvers<void>();
      met.isBack = () => stopped.resolve(consumer.stop());
      comesBack();
      await stopped.promise;
      await publish(heard, 5);
      await start(heard);
      await hears(heard, 1, 2, 3, 4, 5);
    });
  });

  test("a look at the positions that ends after the stop ends no process", async () => {
    const rejected: unknown[] = [];
    const note = (reason: unknown) => rejected.push(reason);
    process.on("unhandledRejection", note);
    const heard = await prepare();
    const consumer = await start(heard, database.pool, { positionsEveryMs: 100 });
    await publish(heard, 1, 2);
    await hears(heard, 1, 2);
    const countWaiting = () => countLockWaits(database.pool);
    await database.admin.query("BEGIN; LOCK TABLE positions");
    try {
      await change("next_offset = 1", heard);
      await eventually(countWaiting, (count) => count > 0);
      await consumer.stop();
    } finally {
      await database.admin.query("COMMIT");
    }
    await eventually(countWaiting, (count) => count === 0);
    await database.pool.query(nothing`SELECT FROM positions`);
    process.off("unhandledRejection", note);
    expect(rejected).toEqual([]);
  });

  test("a partition without records has a position from the first join on", async () => {
    const heard = await prepare(3);
    await start(heard);
    await eventually(
      () => database.admin.query("SELECT FROM positions WHERE consumer = $1", [heard.group]),
      ({ rowCount }) => rowCount === 3,
    );
  });

  test("a mark reaches each partition, and says of how many (rule EVENT-2)", async () => {
    const heard = await prepare(3);
    await start(heard);
    await openBus().publish([markRecord(heard.topic, "test", new Date())]);
    const { topic, group } = heard;
    await eventually(
      () => findHeardUntil(database.pool, { group, topic }),
      (until) => until !== undefined,
    );
  });

  test("a group without positions goes on where Kafka says, as it did before there were any", async () => {
    const heard = await prepare();
    const consumer = await start(heard);
    await publish(heard, 1, 2);
    await hears(heard, 1, 2);
    await consumer.stop();
    await database.admin.query("DELETE FROM positions WHERE consumer = $1", [heard.group]);
    await publish(heard, 3);
    await start(heard);
    await hears(heard, 1, 2, 3);
  });

  test("nothing is handed over before positions are read, however long the database is away", async () => {
    const heard = await prepare();
    const first = await start(heard);
    await publish(heard, 1, 2, 3);
    await hears(heard, 1, 2, 3);
    await first.stop();
    await restore(heard, { stepsKept: 1 });
    const url = new URL(database.url);
    const proxy = await openTcpProxy(url);
    url.port = String(proxy.port);
    const pool = await openPool({
      url: url.href,
      applicationName: "away",
      connectionsMax: 2,
      log: quietLog,
    });
    await proxy.kill();
    const waiting = await start(heard, pool);
    await eventually(
      () => heard.metrics.getSingleMetricAsString("payment_links_consumer_waits_total"),
      hasCrashedAgain,
    );
    await proxy.pass();
    await hears(heard, 1, 2, 3);
    await waiting.stop();
    await pool.end();
    await proxy.kill();
  });

  test.each([
    ["of another cluster", "cluster_id = 'another'", "other_cluster"],
    ["behind the end of the log", "next_offset = 1000", "log_lost"],
  ])(
    "a position %s is said, and the log read from its beginning (rule KEEP-5)",
    async (_, sql, reason) => {
      const heard = await prepare();
      const consumer = await start(heard);
      await publish(heard, 1);
      await hears(heard, 1);
      await consumer.stop();
      await change(sql, heard);
      await publish(heard, 2);
      await database.admin.query("DELETE FROM effects WHERE key = $1", [heard.key]);
      await start(heard);
      await hears(heard, 1, 2);
      expect(await resetsOf(heard)).toBe(reason);
    },
  );

  test("records deleted unread are said, and the log read from where it begins", async () => {
    const heard = await prepare();
    const consumer = await start(heard);
    await publish(heard, 1);
    await hears(heard, 1);
    await consumer.stop();
    await publish(heard, 2, 3);
    // kafkajs knows the leaders of no topic that it was not asked for before.
    await admin.fetchTopicOffsets(heard.topic);
    await admin.deleteTopicRecords({
      topic: heard.topic,
      partitions: [{ partition: 0, offset: "2" }],
    });
    await start(heard);
    await hears(heard, 1, 3);
    expect(await resetsOf(heard)).toBe("deleted_unread");
  });

  const loseLog = async ({ topic }: Heard) => {
    await admin.deleteTopics({ topics: [topic] });
    await eventually(
      () => admin.listTopics(),
      (topics) => !topics.includes(topic),
    );
    const topics = { [topic]: { partitions: 1, config: {} } };
    await ensureTopics({ ...connection, replicationFactor: 1, topics });
  };

  test("a log that is lost under a running consumer is read from its beginning", async () => {
    const heard = await prepare();
    await start(heard);
    await publish(heard, 1, 2, 3);
    await hears(heard, 1, 2, 3);
    await loseLog(heard);
    await publish(heard, 4);
    await hears(heard, 1, 2, 3, 4);
    expect(await resetsOf(heard)).toBe("log_lost");
  });

  test("a log that was lost is noticed although it has grown beyond the position since", async () => {
    const heard = await prepare();
    const consumer = await start(heard);
    await publish(heard, 1, 2, 3);
    await hears(heard, 1, 2, 3);
    await consumer.stop();
    await loseLog(heard);
    await publish(heard, 4, 5, 6, 7, 8);
    await start(heard);
    await hears(heard, 1, 2, 3, 4, 5, 6, 7, 8);
    expect(await resetsOf(heard)).toBe("log_lost");
  });
});

const crashesOf = (metrics: Metrics): Promise<string> =>
  metrics.getSingleMetricAsString("payment_links_bus_consumer_crashes_total");

const hasCrashed = (text: string): boolean => /} [1-9]/.test(text);

const hasCrashedAgain = (text: string): boolean => /} (?:[2-9]|\d\d)/.test(text);

/** Swallows every answer of the brokers, like a network that fails in one direction. */
const silenceBrokers = (): (() => void) => {
  const ports = new Set(brokers.map((broker) => Number(broker.split(":").at(-1))));
  // oxlint-disable-next-line typescript/unbound-method -- it is bound again at each call.
  const { emit } = Socket.prototype;
  Socket.prototype.emit = function swallow(
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
