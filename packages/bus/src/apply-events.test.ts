import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createMetrics, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { afterCommit } from "@payment-links/postgres";
import { type Consumer, startConsumer } from "./consumer.ts";
import { listDeadLetters } from "./dead-letters.ts";
import { type ChunkHandler, type RegisteredHandler, on, onChunk } from "./event-handlers.ts";
import { replayDeadLetters } from "./replay.ts";
import {
  type ManualBus,
  createManualBus,
  createUniqueName,
  createTestSchema,
  silentLog,
  readEffects,
  toReceivedRecord,
  createTestEventType,
  createTestRecord,
  writeEffect,
} from "./testing/rig.ts";

const topic = "things.v1";
const changedEvent = createTestEventType(topic, "thing.changed");
const movedEvent = createTestEventType(topic, "thing.moved");
const leftEvent = createTestEventType(topic, "thing.left");

const database = useRig(createTestSchema);
let bus: ManualBus;
let group: string;
let handledRuns: string[][];
const consumers: Consumer[] = [];

beforeEach(() => {
  bus = createManualBus();
  group = createUniqueName("group");
  handledRuns = [];
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
});

type ThingChunkHandler = ChunkHandler<typeof changedEvent>;

const writeChunk: ThingChunkHandler = async (tx, events) => {
  handledRuns.push(events.map(({ data, envelope }) => `${envelope.type}:${data.step}`));
  for (const { data, envelope } of events) {
    await writeEffect(tx, { key: envelope.key, step: data.step });
  }
};

const createHandlers = (applyChunk: ThingChunkHandler): RegisteredHandler[] => [
  ...onChunk([changedEvent, movedEvent], applyChunk),
  on(leftEvent, async (tx, { step }, { key, type }) => {
    handledRuns.push([`${type}:${step}`]);
    await writeEffect(tx, { key, step });
  }),
];

const startTestConsumer = async (
  applyChunk: ThingChunkHandler = writeChunk,
  handlers: readonly RegisteredHandler[] = createHandlers(applyChunk),
): Promise<void> => {
  consumers.push(
    await startConsumer({
      bus,
      group,
      pool: database.pool,
      handlers,
      metrics: createMetrics("test"),
      clock: systemClock,
      log: silentLog,
    }),
  );
};

const createRecord = (key: string, step: number, type = "thing.changed") =>
  toReceivedRecord(createTestRecord(topic, { key, step, type }));

const readEffectsOf = (key: string) => readEffects(database.pool, key);

describe("events that are applied together", () => {
  test("are passed to their handler in one ordered run, regardless of event type", async () => {
    const key = createUniqueName("key");
    await startTestConsumer();
    await bus.deliver([
      createRecord(key, 1),
      createRecord(key, 2, "thing.moved"),
      createRecord(key, 3),
    ]);
    expect(handledRuns).toEqual([["thing.changed:1", "thing.moved:2", "thing.changed:3"]]);
    expect(await readEffectsOf(key)).toEqual([`${key}:1`, `${key}:2`, `${key}:3`]);
  });

  test("are split into separate runs by an event of another handler", async () => {
    const key = createUniqueName("key");
    await startTestConsumer();
    await bus.deliver([
      createRecord(key, 1),
      createRecord(key, 2, "thing.left"),
      createRecord(key, 3, "thing.left"),
      createRecord(key, 4),
      createRecord(key, 5),
    ]);
    expect(handledRuns).toEqual([
      ["thing.changed:1"],
      ["thing.left:2"],
      ["thing.left:3"],
      ["thing.changed:4", "thing.changed:5"],
    ]);
  });

  test("can act once their transaction has committed, and never after a rollback", async () => {
    const [good, bad] = [createUniqueName("good"), createUniqueName("bad")];
    const hookCalls: string[] = [];
    const applyChunk: ThingChunkHandler = async (tx, events) => {
      await writeChunk(tx, events);
      if (events.some(({ envelope }) => envelope.key === bad)) throw new TypeError("not this one");
      const isCommitted = async () => (await readEffectsOf(good)).length > 0;
      afterCommit(
        tx,
        () =>
          void isCommitted().then((committed) => hookCalls.push(`${events.length}:${committed}`)),
      );
    };
    await startTestConsumer(applyChunk);
    await bus.deliver([createRecord(good, 1), createRecord(bad, 2)]);
    await waitUntil("the hook has run", () => hookCalls.length > 0);
    expect(hookCalls).toEqual(["1:true"]);
    const onReplay: ThingChunkHandler = async (tx) =>
      afterCommit(tx, () => void hookCalls.push("replayed"));
    await replayDeadLetters({ pool: database.pool, group, handlers: createHandlers(onReplay) });
    expect(hookCalls).toEqual(["1:true", "replayed"]);
  });

  test("are applied without the one that fails, which is dead-lettered and can be replayed", async () => {
    const [good, bad] = [createUniqueName("good"), createUniqueName("bad")];
    const failOnBadKey: ThingChunkHandler = async (tx, events) => {
      if (events.some(({ envelope }) => envelope.key === bad)) throw new TypeError("not this one");
      await writeChunk(tx, events);
    };
    await startTestConsumer(failOnBadKey);
    await bus.deliver([createRecord(good, 1), createRecord(bad, 2), createRecord(good, 3)]);
    expect(await readEffectsOf(good)).toEqual([`${good}:1`, `${good}:3`]);
    expect(await readEffectsOf(bad)).toEqual([]);
    expect(await listDeadLetters({ pool: database.pool, group })).toMatchObject([{ key: bad }]);
    await replayDeadLetters({ pool: database.pool, group, handlers: createHandlers(writeChunk) });
    expect(await readEffectsOf(bad)).toEqual([`${bad}:2`]);
  });

  // One bad record must not force a separate transaction for every record around it.
  test("are bisected in order when one of many fails", async () => {
    const [good, bad] = [createUniqueName("good"), createUniqueName("bad")];
    const failOnBadKey: ThingChunkHandler = async (tx, events) => {
      await writeChunk(tx, events);
      if (events.some(({ envelope }) => envelope.key === bad)) throw new TypeError("not this one");
    };
    await startTestConsumer(failOnBadKey);
    const steps = Array.from({ length: 64 }, (_, index) => index + 1);
    await bus.deliver(steps.map((step) => createRecord(step === 40 ? bad : good, step)));
    const goodSteps = steps.filter((step) => step !== 40);
    expect(await readEffectsOf(good)).toEqual(goodSteps.map((step) => `${good}:${step}`));
    expect(await listDeadLetters({ pool: database.pool, group })).toMatchObject([{ key: bad }]);
    // The limit is one attempt for the whole chunk, two for each of 6 bisections, and 5 for the
    // failing record alone.
    expect(handledRuns.length).toBeLessThanOrEqual(1 + 2 * 6 + 5);
  });
});
