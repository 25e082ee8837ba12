import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { openMetrics, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Consumer, startConsumer } from "./consumer.ts";
import { listDeadLetters } from "./dead-letters.ts";
import { type ChunkHandler, type Reaction, on, onTogether } from "./reaction.ts";
import { replayDeadLetters } from "./replay.ts";
import {
  type HandBus,
  createHandBus,
  fresh,
  openTestSchema,
  quietLog,
  readEffects,
  received,
  testEvent,
  testRecord,
  writeEffect,
} from "./testing/rig.ts";

const topic = "things.v1";
const changed = testEvent(topic, "thing.changed");
const moved = testEvent(topic, "thing.moved");
const lone = testEvent(topic, "thing.left");

const database = useRig(openTestSchema);
let bus: HandBus;
let group: string;
let runs: string[][];
const consumers: Consumer[] = [];

beforeEach(() => {
  bus = createHandBus();
  group = fresh("group");
  runs = [];
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
});

type Together = ChunkHandler<typeof changed>;

const writeAll: Together = async (tx, events) => {
  runs.push(events.map(({ data, envelope }) => `${envelope.type}:${data.step}`));
  for (const { data, envelope } of events) {
    await writeEffect(tx, { key: envelope.key, step: data.step });
  }
};

const reactionsOf = (apply: Together): Reaction[] => [
  ...onTogether([changed, moved], apply),
  on(lone, async (tx, { step }, { key, type }) => {
    runs.push([`${type}:${step}`]);
    await writeEffect(tx, { key, step });
  }),
];

const start = async (
  apply: Together = writeAll,
  reactions: readonly Reaction[] = reactionsOf(apply),
): Promise<void> => {
  consumers.push(
    await startConsumer({
      bus,
      group,
      pool: database.pool,
      reactions,
      metrics: openMetrics("test"),
      clock: systemClock,
      log: quietLog,
    }),
  );
};

const record = (key: string, step: number, type = "thing.changed") =>
  received(testRecord(topic, { key, step, type }));

const effectsOf = (key: string) => readEffects(database.pool, key);

describe("events that are applied together", () => {
  test("come to their handler in one run, in order, whatever their types", async () => {
    const key = fresh("key");
    await start();
    await bus.handOver([record(key, 1), record(key, 2, "thing.moved"), record(key, 3)]);
    expect(runs).toEqual([["thing.changed:1", "thing.moved:2", "thing.changed:3"]]);
    expect(await effectsOf(key)).toEqual([`${key}:1`, `${key}:2`, `${key}:3`]);
  });

  test("end their run where an event of another handler stands between them", async () => {
    const key = fresh("key");
    await start();
    await bus.handOver([
      record(key, 1),
      record(key, 2, "thing.left"),
      record(key, 3, "thing.left"),
      record(key, 4),
      record(key, 5),
    ]);
    expect(runs).toEqual([
      ["thing.changed:1"],
      ["thing.left:2"],
      ["thing.left:3"],
      ["thing.changed:4", "thing.changed:5"],
    ]);
  });

  test("have done what their handler wants once they are committed, and never where they are not", async () => {
    const [good, bad] = [fresh("good"), fresh("bad")];
    const done: string[] = [];
    const apply: Together = async (tx, events) => {
      await writeAll(tx, events);
      if (events.some(({ envelope }) => envelope.key === bad)) throw new TypeError("not this one");
      const isCommitted = async () => (await effectsOf(good)).length > 0;
      return () => void isCommitted().then((is) => done.push(`${events.length}:${is}`));
    };
    await start(apply);
    await bus.handOver([record(good, 1), record(bad, 2)]);
    await waitUntil("it is done", () => done.length > 0);
    expect(done).toEqual(["1:true"]);
    const replayed: Together = async () => () => void done.push("replayed");
    await replayDeadLetters({ pool: database.pool, group, reactions: reactionsOf(replayed) });
    expect(done).toEqual(["1:true", "replayed"]);
  });

  test("of which one fails are applied without it: that one is set aside, and a replay brings it", async () => {
    const [good, bad] = [fresh("good"), fresh("bad")];
    const failing: Together = async (tx, events) => {
      if (events.some(({ envelope }) => envelope.key === bad)) throw new TypeError("not this one");
      await writeAll(tx, events);
    };
    await start(failing);
    await bus.handOver([record(good, 1), record(bad, 2), record(good, 3)]);
    expect(await effectsOf(good)).toEqual([`${good}:1`, `${good}:3`]);
    expect(await effectsOf(bad)).toEqual([]);
    expect(await listDeadLetters({ pool: database.pool, group })).toMatchObject([{ key: bad }]);
    await replayDeadLetters({ pool: database.pool, group, reactions: reactionsOf(writeAll) });
    expect(await effectsOf(bad)).toEqual([`${bad}:2`]);
  });

  // Guards against one bad record that makes all around it cost a transaction each.
  test("of which one among many fails are tried by halves, in order", async () => {
    const [good, bad] = [fresh("good"), fresh("bad")];
    const failing: Together = async (tx, events) => {
      await writeAll(tx, events);
      if (events.some(({ envelope }) => envelope.key === bad)) throw new TypeError("not this one");
    };
    await start(failing);
    const steps = Array.from({ length: 64 }, (_, index) => index + 1);
    await bus.handOver(steps.map((step) => record(step === 40 ? bad : good, step)));
    const goodSteps = steps.filter((step) => step !== 40);
    expect(await effectsOf(good)).toEqual(goodSteps.map((step) => `${good}:${step}`));
    expect(await listDeadLetters({ pool: database.pool, group })).toMatchObject([{ key: bad }]);
    // The whole, two parts at each of six halvings, and what a lone record that fails is tried.
    expect(runs.length).toBeLessThanOrEqual(1 + 2 * 6 + 5);
  });
});
