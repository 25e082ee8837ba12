import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openMetrics, systemClock } from "@payment-links/runtime";
import type { BatchHandler, Bus, OutgoingRecord, ReceivedRecord } from "./bus.ts";
import { startConsumer } from "./consumer.ts";
import { listDeadLetters } from "./dead-letters.ts";
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

export type BusAdapter = {
  /**
   * Opens the bus as a process does. Buses over Kafka share the broker; the one local bus stands
   * for all processes.
   */
  open: (options: { groups?: readonly string[] }) => Bus;
  /** Makes a topic if the adapter needs that, and answers its name. */
  makeTopic: () => Promise<string>;
};

const stepsTo = (count: number) => Array.from({ length: count }, (_, step) => step);

const labelsOf = (key: string, count: number) => stepsTo(count).map((step) => `${key}:${step}`);

const ofKey = (labels: readonly string[], key: string) =>
  labels.filter((label) => label.startsWith(`${key}:`));

/** A handler that remembers what it was handed. */
const listener = () => {
  const records: ReceivedRecord[] = [];
  const handle: BatchHandler = async (batch) => {
    records.push(...batch);
    return { handledCount: batch.length };
  };
  return { records, handle, labels: () => records.map(labelOf) };
};

/** What every adapter of the bus must keep; run against each. */
export const testBusContract = (name: string, adapter: BusAdapter): void => {
  const opened: Bus[] = [];
  const open = (options: { groups?: readonly string[] } = {}): Bus => {
    const bus = adapter.open(options);
    opened.push(bus);
    return bus;
  };
  const prepare = async () => ({
    bus: open(),
    topic: await adapter.makeTopic(),
    group: fresh("group"),
  });
  const steps = (topic: string, key: string, count: number): OutgoingRecord[] =>
    stepsTo(count).map((step) => testRecord(topic, { key, step }));

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((bus) => bus.close()));
  });

  describe(`${name}: the bus contract`, () => {
    test("the records of a key arrive in the order in which they were sent (rule EVENT-1)", async () => {
      const { bus, topic, group } = await prepare();
      const heard = listener();
      await bus.subscribe({ group, topics: [topic], handle: heard.handle });
      const keys = stepsTo(20).map((index) => `key-${index}`);
      for (const step of stepsTo(15)) {
        await send(
          bus,
          keys.map((key) => testRecord(topic, { key, step })),
        );
      }
      await eventually(heard.labels, (labels) => new Set(labels).size === 300);
      for (const key of keys) expect(ofKey(heard.labels(), key)).toEqual(labelsOf(key, 15));
    });

    test("key, value and headers arrive as they were sent", async () => {
      const { bus, topic, group } = await prepare();
      const heard = listener();
      await bus.subscribe({ group, topics: [topic], handle: heard.handle });
      const record = testRecord(topic, { key: "schlüssel", step: 1 });
      const value = JSON.stringify({ step: 1, note: "зелёный 緑 🟢" });
      await send(bus, [{ ...record, value, headers: { ...record.headers, traceparent: "00-ab" } }]);
      const [received] = await eventually(
        () => heard.records,
        (records) => records.length > 0,
      );
      expect(received).toMatchObject({
        topic,
        key: "schlüssel",
        headers: { ...record.headers, traceparent: "00-ab" },
      });
      expect(received?.value?.toString()).toBe(value);
    });

    test("what a handler did not get done comes again, from the first record on", async () => {
      const { bus, topic, group } = await prepare();
      const done: string[] = [];
      let attempts = 0;
      const handle: BatchHandler = async (records) => {
        attempts += 1;
        if (attempts === 1) throw new Error("the handler died");
        const part = attempts === 2 ? records.slice(0, 1) : records;
        done.push(...part.map(labelOf));
        return { handledCount: part.length };
      };
      await bus.subscribe({ group, topics: [topic], handle });
      await send(bus, steps(topic, "a", 10));
      await eventually(
        () => done,
        (labels) => labels.length >= 10,
      );
      expect(done).toEqual(labelsOf("a", 10));
      expect(attempts).toBeGreaterThanOrEqual(3);
    });

    test("the members of a group share the records, and none is missed", async () => {
      const { bus, topic, group } = await prepare();
      const [first, second] = [listener(), listener()];
      const all = () => [...first.labels(), ...second.labels()];
      await bus.subscribe({ group, topics: [topic], handle: first.handle });
      await send(bus, steps(topic, "early", 5));
      await eventually(first.labels, (labels) => labels.length >= 5);
      await open().subscribe({ group, topics: [topic], handle: second.handle });
      // Goes on sending until the newcomer has joined: a Kafka group takes a while to share its
      // partitions again.
      const sent = new Set(labelsOf("early", 5));
      for (let step = 0; second.records.length === 0 || step < 3; step += 1) {
        const keys = stepsTo(24).map((index) => `key-${index}`);
        for (const key of keys) sent.add(`${key}:${step}`);
        await send(
          bus,
          keys.map((key) => testRecord(topic, { key, step })),
        );
      }
      await eventually(all, (labels) => new Set(labels).size === sent.size);
      expect(new Set(all())).toEqual(sent);
    });

    test("each of several groups gets every record", async () => {
      const { bus, topic } = await prepare();
      const listeners = stepsTo(3).map(listener);
      for (const { handle } of listeners) {
        await open().subscribe({ group: fresh("group"), topics: [topic], handle });
        await bus.subscribe({
          group: fresh("group"),
          topics: [topic],
          handle: async (records) => ({
            handledCount: records.length,
          }),
        });
      }
      await Promise.all(
        opened.map((each) => send(each, steps(topic, `from-${opened.indexOf(each)}`, 4))),
      );
      const expected = new Set(opened.flatMap((_, index) => labelsOf(`from-${index}`, 4)));
      for (const { labels } of listeners) {
        await eventually(labels, (heard) => new Set(heard).size === expected.size);
        expect(new Set(labels())).toEqual(expected);
      }
    });

    test("a member that is stopped and started again goes on where it was", async () => {
      const { bus, topic, group } = await prepare();
      const before = listener();
      const subscription = await bus.subscribe({ group, topics: [topic], handle: before.handle });
      await send(bus, steps(topic, "a", 5));
      await eventually(before.labels, (labels) => labels.length >= 5);
      await subscription.stop();
      const sent = send(bus, steps(topic, "b", 5));
      const after = listener();
      await open().subscribe({ group, topics: [topic], handle: after.handle });
      await bus.subscribe({ group, topics: [topic], handle: after.handle });
      await sent;
      await eventually(after.labels, (labels) => new Set(labels).size >= 5);
      expect(new Set(after.labels())).toEqual(new Set(labelsOf("b", 5)));
      expect(before.labels()).toEqual(labelsOf("a", 5));
    });

    test("stopping lets the batch under way end, and keeps its place", async () => {
      const { bus, topic, group } = await prepare();
      const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>();
      const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
      let doneCount = 0;
      const subscription = await bus.subscribe({
        group,
        topics: [topic],
        handle: async (records, signal) => {
          begin(signal);
          await gate;
          doneCount += records.length;
          return { handledCount: records.length };
        },
      });
      const sent = send(bus, steps(topic, "a", 3));
      const signal = await begun;
      const stopped = subscription.stop();
      expect(signal.aborted).toBe(true);
      openGate();
      await stopped;
      expect(doneCount).toBeGreaterThan(0);
      await sent;
      const after = listener();
      await bus.subscribe({ group, topics: [topic], handle: after.handle });
      await send(bus, [testRecord(topic, { key: "a", step: 9 })]);
      await eventually(after.labels, (labels) => labels.includes("a:9"));
      expect(doneCount + after.records.length).toBe(4);
    });

    test("a big batch arrives whole and in order", async () => {
      const { bus, topic, group } = await prepare();
      const heard = listener();
      await bus.subscribe({ group, topics: [topic], handle: heard.handle });
      const padding = "x".repeat(1_000);
      const records = steps(topic, "a", 3_000);
      for (const [step, record] of records.entries()) {
        record.value = JSON.stringify({ step, padding });
      }
      await send(bus, records);
      await eventually(heard.labels, (labels) => labels.length >= 3_000);
      expect(heard.labels()).toEqual(labelsOf("a", 3_000));
    });

    test("records sent before a group joins for the first time reach it", async () => {
      const { topic, group } = await prepare();
      const bus = open({ groups: [group] });
      const sent = send(bus, steps(topic, "a", 5));
      const heard = listener();
      await bus.subscribe({ group, topics: [topic], handle: heard.handle });
      await sent;
      await eventually(heard.labels, (labels) => labels.length >= 5);
      expect(heard.labels()).toEqual(labelsOf("a", 5));
    });
  });

  describe(`${name}: a consumer over the bus`, () => {
    let database: TestSchema;

    beforeAll(async () => {
      database = await openTestSchema();
    });
    afterAll(() => database.close());

    test("a poisoned record and those behind it are set aside; all else goes on (rule KEEP-6)", async () => {
      const { bus, topic, group } = await prepare();
      const { pool } = database;
      const apply = on(testEvent(topic), async (tx, { step }, { key }) => {
        if (key === "bad" && step === 1) throw new TypeError("this one never works");
        await writeEffect(tx, { key, step });
      });
      const consumer = await startConsumer({
        bus,
        pool,
        group,
        reactions: [apply],
        clock: systemClock,
        log: quietLog,
        metrics: openMetrics("test"),
      });
      const sent = send(
        bus,
        ["good", "bad", "fine"].flatMap((key) => steps(topic, key, 3)),
      );
      const effects = await eventually(
        () => readEffects(pool),
        (labels) => labels.length === 7,
      );
      const parked = await eventually(
        () => listDeadLetters({ pool, group }),
        (letters) => letters.length === 2,
      );
      await sent;
      await consumer.stop();
      expect(ofKey(effects, "good")).toEqual(labelsOf("good", 3));
      expect(ofKey(effects, "fine")).toEqual(labelsOf("fine", 3));
      expect(ofKey(effects, "bad")).toEqual(["bad:0"]);
      expect(parked.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
        "bad: TypeError: this one never works",
        "bad: parked behind an earlier record of the same key",
      ]);
    });
  });
};
