import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createMetrics, systemClock } from "@payment-links/runtime";
import type { BatchHandler, Bus, OutgoingRecord, ReceivedRecord } from "./bus.ts";
import { startConsumer } from "./consumer.ts";
import { listDeadLetters } from "./dead-letters.ts";
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

export type BusAdapter = {
  /**
   * Creates the bus that one process would use. Kafka buses share a broker. The local adapter
   * returns the same bus on every call, because it serves only one process.
   */
  createBus: (options: { groups?: readonly string[] }) => Bus;
  /** Creates a topic if the adapter needs one, and returns its name. */
  createTopic: () => Promise<string>;
};

const createSteps = (count: number) => Array.from({ length: count }, (_, step) => step);

const createLabels = (key: string, count: number) =>
  createSteps(count).map((step) => `${key}:${step}`);

const filterByKey = (labels: readonly string[], key: string) =>
  labels.filter((label) => label.startsWith(`${key}:`));

/** Creates a handler that records every delivery. */
const createListener = () => {
  const records: ReceivedRecord[] = [];
  const handle: BatchHandler = async (batch) => {
    records.push(...batch);
    return { handledCount: batch.length };
  };
  return { records, handle, labels: () => records.map(formatLabel) };
};

/** The contract that every bus adapter must satisfy. Each adapter's test file runs it. */
export const testBusContract = (name: string, adapter: BusAdapter): void => {
  const createdBuses: Bus[] = [];
  const createBus = (options: { groups?: readonly string[] } = {}): Bus => {
    const bus = adapter.createBus(options);
    createdBuses.push(bus);
    return bus;
  };
  const createScope = async () => ({
    bus: createBus(),
    topic: await adapter.createTopic(),
    group: createUniqueName("group"),
  });
  const createStepRecords = (topic: string, key: string, count: number): OutgoingRecord[] =>
    createSteps(count).map((step) => createTestRecord(topic, { key, step }));

  afterEach(async () => {
    await Promise.all(createdBuses.splice(0).map((bus) => bus.close()));
  });

  describe(`${name}: the bus contract`, () => {
    test("delivers the records of a key in the order they were sent (rule EVENT-1)", async () => {
      const { bus, topic, group } = await createScope();
      const listener = createListener();
      await bus.subscribe({ group, topics: [topic], handle: listener.handle });
      const keys = createSteps(20).map((index) => `key-${index}`);
      for (const step of createSteps(15)) {
        await publishUntilStored(
          bus,
          keys.map((key) => createTestRecord(topic, { key, step })),
        );
      }
      await eventually(listener.labels, (labels) => new Set(labels).size === 300);
      for (const key of keys)
        expect(filterByKey(listener.labels(), key)).toEqual(createLabels(key, 15));
    });

    test("delivers key, value and headers unchanged", async () => {
      const { bus, topic, group } = await createScope();
      const listener = createListener();
      await bus.subscribe({ group, topics: [topic], handle: listener.handle });
      const record = createTestRecord(topic, { key: "schlüssel", step: 1 });
      const value = JSON.stringify({ step: 1, note: "зелёный 緑 🟢" });
      await publishUntilStored(bus, [
        { ...record, value, headers: { ...record.headers, traceparent: "00-ab" } },
      ]);
      const [received] = await eventually(
        () => listener.records,
        (records) => records.length > 0,
      );
      expect(received).toMatchObject({
        topic,
        key: "schlüssel",
        headers: { ...record.headers, traceparent: "00-ab" },
      });
      expect(received?.value?.toString()).toBe(value);
    });

    test("redelivers unhandled records, starting with the first of them", async () => {
      const { bus, topic, group } = await createScope();
      const handledLabels: string[] = [];
      let attemptCount = 0;
      const handle: BatchHandler = async (records) => {
        attemptCount += 1;
        if (attemptCount === 1) throw new Error("the handler died");
        const handledRecords = attemptCount === 2 ? records.slice(0, 1) : records;
        handledLabels.push(...handledRecords.map(formatLabel));
        return { handledCount: handledRecords.length };
      };
      await bus.subscribe({ group, topics: [topic], handle });
      await publishUntilStored(bus, createStepRecords(topic, "a", 10));
      await eventually(
        () => handledLabels,
        (labels) => labels.length >= 10,
      );
      expect(handledLabels).toEqual(createLabels("a", 10));
      expect(attemptCount).toBeGreaterThanOrEqual(3);
    });

    test("divides the records among the members of a group, without gaps", async () => {
      const { bus, topic, group } = await createScope();
      const [first, second] = [createListener(), createListener()];
      const getAllLabels = () => [...first.labels(), ...second.labels()];
      await bus.subscribe({ group, topics: [topic], handle: first.handle });
      await publishUntilStored(bus, createStepRecords(topic, "early", 5));
      await eventually(first.labels, (labels) => labels.length >= 5);
      await createBus().subscribe({ group, topics: [topic], handle: second.handle });
      // Keeps sending until the second member receives records, because a Kafka rebalance takes
      // time.
      const sentLabels = new Set(createLabels("early", 5));
      for (let step = 0; second.records.length === 0 || step < 3; step += 1) {
        const keys = createSteps(24).map((index) => `key-${index}`);
        for (const key of keys) sentLabels.add(`${key}:${step}`);
        await publishUntilStored(
          bus,
          keys.map((key) => createTestRecord(topic, { key, step })),
        );
      }
      await eventually(getAllLabels, (labels) => new Set(labels).size === sentLabels.size);
      expect(new Set(getAllLabels())).toEqual(sentLabels);
    });

    test("delivers every record to each of several groups", async () => {
      const { bus, topic } = await createScope();
      const listeners = createSteps(3).map(createListener);
      for (const { handle } of listeners) {
        await createBus().subscribe({ group: createUniqueName("group"), topics: [topic], handle });
        await bus.subscribe({
          group: createUniqueName("group"),
          topics: [topic],
          handle: async (records) => ({
            handledCount: records.length,
          }),
        });
      }
      await Promise.all(
        createdBuses.map((createdBus) =>
          publishUntilStored(
            createdBus,
            createStepRecords(topic, `from-${createdBuses.indexOf(createdBus)}`, 4),
          ),
        ),
      );
      const expected = new Set(
        createdBuses.flatMap((_, index) => createLabels(`from-${index}`, 4)),
      );
      for (const { labels } of listeners) {
        await eventually(
          labels,
          (receivedLabels) => new Set(receivedLabels).size === expected.size,
        );
        expect(new Set(labels())).toEqual(expected);
      }
    });

    test("resumes at the stored position after a member stops and another joins", async () => {
      const { bus, topic, group } = await createScope();
      const firstListener = createListener();
      const subscription = await bus.subscribe({
        group,
        topics: [topic],
        handle: firstListener.handle,
      });
      await publishUntilStored(bus, createStepRecords(topic, "a", 5));
      await eventually(firstListener.labels, (labels) => labels.length >= 5);
      await subscription.stop();
      const publishing = publishUntilStored(bus, createStepRecords(topic, "b", 5));
      const secondListener = createListener();
      await createBus().subscribe({ group, topics: [topic], handle: secondListener.handle });
      await bus.subscribe({ group, topics: [topic], handle: secondListener.handle });
      await publishing;
      await eventually(secondListener.labels, (labels) => new Set(labels).size >= 5);
      expect(new Set(secondListener.labels())).toEqual(new Set(createLabels("b", 5)));
      expect(firstListener.labels()).toEqual(createLabels("a", 5));
    });

    test("completes the running batch on stop, and stores the position", async () => {
      const { bus, topic, group } = await createScope();
      const { promise: batchStarted, resolve: reportStart } = Promise.withResolvers<AbortSignal>();
      const { promise: latch, resolve: releaseLatch } = Promise.withResolvers<void>();
      let doneCount = 0;
      const subscription = await bus.subscribe({
        group,
        topics: [topic],
        handle: async (records, signal) => {
          reportStart(signal);
          await latch;
          doneCount += records.length;
          return { handledCount: records.length };
        },
      });
      const publishing = publishUntilStored(bus, createStepRecords(topic, "a", 3));
      const signal = await batchStarted;
      const stopPromise = subscription.stop();
      expect(signal.aborted).toBe(true);
      releaseLatch();
      await stopPromise;
      expect(doneCount).toBeGreaterThan(0);
      await publishing;
      const secondListener = createListener();
      await bus.subscribe({ group, topics: [topic], handle: secondListener.handle });
      await publishUntilStored(bus, [createTestRecord(topic, { key: "a", step: 9 })]);
      await eventually(secondListener.labels, (labels) => labels.includes("a:9"));
      expect(doneCount + secondListener.records.length).toBe(4);
    });

    test("delivers a large batch complete and in order", async () => {
      const { bus, topic, group } = await createScope();
      const listener = createListener();
      await bus.subscribe({ group, topics: [topic], handle: listener.handle });
      const padding = "x".repeat(1_000);
      const records = createStepRecords(topic, "a", 3_000);
      for (const [step, record] of records.entries()) {
        record.value = JSON.stringify({ step, padding });
      }
      await publishUntilStored(bus, records);
      await eventually(listener.labels, (labels) => labels.length >= 3_000);
      expect(listener.labels()).toEqual(createLabels("a", 3_000));
    });

    test("delivers records that were sent before a group first joined", async () => {
      const { topic, group } = await createScope();
      const bus = createBus({ groups: [group] });
      const publishing = publishUntilStored(bus, createStepRecords(topic, "a", 5));
      const listener = createListener();
      await bus.subscribe({ group, topics: [topic], handle: listener.handle });
      await publishing;
      await eventually(listener.labels, (labels) => labels.length >= 5);
      expect(listener.labels()).toEqual(createLabels("a", 5));
    });
  });

  describe(`${name}: a consumer over the bus`, () => {
    let database: TestSchema;

    beforeAll(async () => {
      database = await createTestSchema();
    });
    afterAll(() => database.close());

    test("dead-letters a failing record and those behind it, and applies everything else (rule KEEP-6)", async () => {
      const { bus, topic, group } = await createScope();
      const { pool } = database;
      const apply = on(createTestEventType(topic), async (tx, { step }, { key }) => {
        if (key === "bad" && step === 1) throw new TypeError("this one never works");
        await writeEffect(tx, { key, step });
      });
      const consumer = await startConsumer({
        bus,
        pool,
        group,
        handlers: [apply],
        clock: systemClock,
        log: silentLog,
        metrics: createMetrics("test"),
      });
      const publishing = publishUntilStored(
        bus,
        ["good", "bad", "fine"].flatMap((key) => createStepRecords(topic, key, 3)),
      );
      const effects = await eventually(
        () => readEffects(pool),
        (labels) => labels.length === 7,
      );
      const deadLetters = await eventually(
        () => listDeadLetters({ pool, group }),
        (letters) => letters.length === 2,
      );
      await publishing;
      await consumer.stop();
      expect(filterByKey(effects, "good")).toEqual(createLabels("good", 3));
      expect(filterByKey(effects, "fine")).toEqual(createLabels("fine", 3));
      expect(filterByKey(effects, "bad")).toEqual(["bad:0"]);
      expect(deadLetters.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
        "bad: TypeError: this one never works",
        "bad: parked behind an earlier record of the same key",
      ]);
    });
  });
};
