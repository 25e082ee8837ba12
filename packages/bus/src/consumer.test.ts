import assert from "node:assert";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import { refuse } from "@payment-links/contracts";
import { createHeldClock, openMetrics, systemClock } from "@payment-links/runtime";
import { countLockWaits } from "@payment-links/postgres/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Consumer, type ConsumerOptions, startConsumer } from "./consumer.ts";
import { discardDeadLetter, listDeadLetters } from "./dead-letters.ts";
import { findHeardUntil } from "./marks.ts";
import { outgoing, publish } from "./outbox.ts";
import { type EventHandler, type Reaction, on } from "./reaction.ts";
import { replayDeadLetters } from "./replay.ts";
import {
  type HandBus,
  createHandBus,
  eventually,
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

const database = useRig(openTestSchema);
let bus: HandBus;
let group: string;
let metrics = openMetrics("test");
const consumers: Consumer[] = [];

beforeEach(() => {
  bus = createHandBus();
  group = fresh("group");
  metrics = openMetrics("test");
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
});

type Apply = EventHandler<ReturnType<typeof testEvent>>;

const write: Apply = (tx, { step }, { key }) => writeEffect(tx, { key, step });

const react = (apply: Apply = write): Reaction[] => [on(testEvent(topic), apply)];

const start = async (apply?: Apply, more: Partial<ConsumerOptions> = {}): Promise<Consumer> => {
  const consumer = await startConsumer({
    bus,
    group,
    metrics,
    pool: database.pool,
    reactions: react(apply),
    clock: systemClock,
    log: quietLog,
    ...more,
  });
  consumers.push(consumer);
  return consumer;
};

/** Keys are the test's own, so that tests share the tables. */
const keys = () => ({ a: fresh("a"), b: fresh("b"), bad: fresh("bad") });

const event = (key: string, step: number) => received(testRecord(topic, { key, step }));

/** A record of a log to which one can come back, at an offset. */
const at = (offset: number, record: ReturnType<typeof event>) => ({
  ...record,
  offset: String(offset),
  log: { clusterId: "cluster", resetCount: 0 },
});

const parked = () => listDeadLetters({ pool: database.pool, group });

const replay = (apply?: Apply, only: { key?: string; afterSeq?: string } = {}) =>
  replayDeadLetters({ pool: database.pool, group, reactions: react(apply), ...only });

const effectsOf = (key: string) => readEffects(database.pool, key);

describe("a consumer", () => {
  test("lets unknown types and unknown fields through (rule EVENT-4)", async () => {
    const { a } = keys();
    await start();
    const { handledCount } = await bus.handOver([
      received(testRecord(topic, { key: a, step: 1, type: "thing.invented" }), {
        value: undefined,
      }),
      received({ ...testRecord(topic, { key: a, step: 2 }), value: '{"step":2,"colour":"red"}' }),
    ]);
    expect(handledCount).toBe(2);
    expect(await effectsOf(a)).toEqual([`${a}:2`]);
    expect(await parked()).toEqual([]);
  });

  const valid = testRecord(topic, { key: "k", step: 1 }).headers;
  test.each([
    ["no headers", { headers: {} }, "the header ce_type is missing"],
    ["no id", { headers: { ...valid, ce_id: "" } }, /^headers: ce_id/],
    ["an id that no column holds", { headers: { ...valid, ce_id: "a\0b" } }, /^headers: ce_id/],
    ["no time", { headers: { ...valid, ce_time: "yesterday" } }, /^headers: ce_time/],
    ["a time before time", { headers: { ...valid, ce_time: "0000-01-01T00:00:00Z" } }, /ce_time/],
    ["no value", { value: undefined }, "the value is missing"],
    ["bytes that are no text", { value: Buffer.from([0xff]) }, "the value is not UTF-8"],
    ["text that is no JSON", { value: Buffer.from("{") }, "the value is not JSON"],
    ["data of another shape", { value: Buffer.from('{"step":"one"}') }, /^data: step/],
  ])(
    "sets a record with %s aside, and goes on (rules EVENT-4 and KEEP-6)",
    async (_, changes, reason) => {
      const { a, bad } = keys();
      await start();
      const broken = received(testRecord(topic, { key: bad, step: 1 }), changes);
      await bus.handOver([broken, event(bad, 2), event(a, 1)]);
      await bus.handOver([broken, event(bad, 3)]);
      expect(await effectsOf(a)).toEqual([`${a}:1`]);
      expect(await effectsOf(bad)).toEqual([]);
      expect((await parked()).map((letter) => letter.reason)).toEqual([
        typeof reason === "string" ? reason : expect.stringMatching(reason),
        "parked behind an earlier record of the same key",
        "parked behind an earlier record of the same key",
      ]);
    },
  );

  test("sets aside what Postgres could not store as it is, and keeps its bytes", async () => {
    const { a } = keys();
    await start();
    const value = Buffer.from([0, 1, 0xfe]);
    const headers = { ...valid, "odd\0": "\0" };
    await bus.handOver([
      received(testRecord(topic, { key: a, step: 1 }), { key: `${a}\0`, headers, value }),
      received(testRecord(topic, { key: a, step: 1 }), { key: undefined, value }),
      received(testRecord(topic, { key: a, step: 1 }), { key: undefined }),
      event(a, 2),
    ]);
    const [first] = await parked();
    expect(first?.key).toBe(`${a}\uFFFD`);
    const { rows } = await database.admin.query<{ value: Buffer }>(
      "SELECT value FROM dead_letters WHERE consumer = $1",
      [group],
    );
    expect(rows.map((row) => row.value)).toEqual([value, value]);
    // Records without a key have no order: the good one was applied, although a bad one came first.
    expect(await readEffects(database.pool, "")).toContain(":1");
    expect(await effectsOf(a)).toEqual([`${a}:2`]);
  });

  const badValue = Buffer.from('{"step":"one"}');
  const manyHeaders = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, "x"]),
  );
  test.each([
    ["a key that no index holds", { key: randomBytes(20_000).toString("hex"), value: badValue }],
    [
      "a time that SQL writes otherwise",
      { headers: { ...valid, ce_time: "9999-12-31T23:00:00-05:00" } },
    ],
    [
      "a header that no message holds",
      { headers: { ...valid, odd: "x".repeat(2_000_000) }, value: badValue },
    ],
    ["more headers than anybody reads", { headers: { ...manyHeaders, ...valid }, value: badValue }],
  ])("sets a record with %s aside within its bounds, and goes on", async (_, changes) => {
    const { a, bad } = keys();
    await start();
    const broken = received(testRecord(topic, { key: bad, step: 1 }), changes);
    await bus.handOver([broken, event(a, 1)]);
    expect(await effectsOf(a)).toEqual([`${a}:1`]);
    expect(await parked()).toHaveLength(1);
    const { rows } = await database.admin.query<{ value: string }>(
      "SELECT value FROM outbox WHERE type = 'dead_letter.parked' ORDER BY seq DESC LIMIT 1",
    );
    expect(rows[0]?.value.length).toBeLessThan(64 * 1024);
    expect(await replay()).toMatchObject({ replayedCount: 0, failures: [{ topic }] });
  });

  test.each([
    ["a refusal", () => refuse("NOT_FOUND")],
    ["a broken invariant", () => new assert.AssertionError({ message: "an invariant broke" })],
  ])("sets %s aside at once, and undoes what its handler had begun", async (_, makeError) => {
    const { a, bad } = keys();
    let tries = 0;
    await start(async (tx, data, envelope) => {
      await write(tx, data, envelope);
      if (envelope.key !== bad) return;
      tries += 1;
      throw makeError();
    });
    await bus.handOver([event(a, 1), event(bad, 1), event(a, 2)]);
    expect(await effectsOf(bad)).toEqual([]);
    expect(await effectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    // Once with its chunk, once with half of it, once alone.
    expect(tries).toBe(3);
    expect(await parked()).toHaveLength(1);
  });

  test("tries what fails for an unknown reason a few times before it is set aside", async () => {
    const { a, bad } = keys();
    const tries: Record<string, number> = {};
    await start(async (tx, data, envelope) => {
      const count = (tries[envelope.key] = (tries[envelope.key] ?? 0) + 1);
      if (envelope.key === bad || count <= 3) throw new TypeError("not yet");
      await write(tx, data, envelope);
    });
    await bus.handOver([event(a, 1)]);
    await bus.handOver([event(bad, 1)]);
    expect(await effectsOf(a)).toEqual([`${a}:1`]);
    expect(tries[bad]).toBe(5);
    expect((await parked()).map(({ key }) => key)).toEqual([bad]);
  });

  test("tells of a dead letter on a topic of its own, with reason and place (rule KEEP-6)", async () => {
    const { bad } = keys();
    await start(() => Promise.reject(refuse("NOT_FOUND")));
    const record = received(testRecord(topic, { key: bad, step: 7 }), { partition: 4 });
    await bus.handOver([record]);
    const { rows } = await database.admin.query<{ topic: string; type: string; value: string }>(
      "SELECT topic, type, value FROM outbox WHERE key = $1",
      [bad],
    );
    expect(rows.map(({ topic: to, type }) => ({ to, type }))).toEqual([
      { to: `${topic}.dead-letter`, type: "dead_letter.parked" },
    ]);
    expect(JSON.parse(rows[0]?.value ?? "")).toEqual({
      group,
      topic,
      partition: 4,
      offset: record.offset,
      key: bad,
      eventId: record.headers["ce_id"],
      eventType: "thing.changed",
      headers: record.headers,
      value: '{"step":7}',
      reason: "Refusal: NOT_FOUND",
    });
  });

  test("waits out a database that fails in the middle, and sets nothing aside", async () => {
    const { a, b } = keys();
    let kills = 0;
    await start(async (tx, data, envelope) => {
      await write(tx, data, envelope);
      if (kills >= 3) return;
      kills += 1;
      const { pid } = await tx.one(sql.type(z.object({ pid: z.number() }))`
        SELECT pg_backend_pid() AS pid
      `);
      await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
    });
    const { handledCount } = await bus.handOver([event(a, 1), event(b, 1), event(a, 2)]);
    expect({ handledCount, kills }).toEqual({ handledCount: 3, kills: 3 });
    expect(await effectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    expect(await effectsOf(b)).toEqual([`${b}:1`]);
    expect(await parked()).toEqual([]);
  });

  test("waits however long the database is away, and can be stopped meanwhile (rule KEEP-6)", async () => {
    const { a, b } = keys();
    const clock = createHeldClock(new Date());
    let tries = 0;
    await start(
      (tx, data, envelope) => {
        if (envelope.key === a) return write(tx, data, envelope);
        tries += 1;
        return Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
      },
      { clock },
    );
    const stopping = new AbortController();
    const first = Array.from({ length: 250 }, (_, step) => event(a, step));
    const handled = bus.handOver([...first, event(b, 1), event(b, 2)], stopping.signal);
    await eventually(
      () => {
        clock.advance(5_000);
        return tries;
      },
      (count) => count > 20,
    );
    stopping.abort();
    expect(await handled).toEqual({ handledCount: 250 });
    expect(await effectsOf(b)).toEqual([]);
    expect(await parked()).toEqual([]);
  });

  test("tells after a commit that told others something, and only then", async () => {
    const { a, b, bad } = keys();
    const told = testEvent(fresh("told"));
    let commits = 0;
    await start(
      async (tx, data, envelope) => {
        if (envelope.key === bad) throw refuse("NOT_FOUND");
        if (envelope.key !== a) return;
        await publish(tx, [outgoing(told, { key: a, occurredAt: new Date(), data })]);
      },
      { afterCommit: () => (commits += 1) },
    );
    await bus.handOver([event(b, 1)]);
    expect(commits).toBe(0);
    await bus.handOver([event(a, 1)]);
    expect(commits).toBe(1);
    // It is set aside, which is told as well.
    await bus.handOver([event(bad, 1)]);
    expect(commits).toBe(2);
  });

  test("counts what became of the records, and how late they were", async () => {
    const { a, bad } = keys();
    await start((tx, data, envelope) =>
      envelope.key === bad ? Promise.reject(refuse("NOT_FOUND")) : write(tx, data, envelope),
    );
    const record = event(a, 1);
    await bus.handOver([record, event(bad, 1)].map((one, index) => at(index, one)));
    await bus.handOver([at(0, record)]);
    const text = await metrics.metrics();
    const labels = `group="${group}",topic="${topic}"`;
    for (const outcome of ["applied", "repeated", "parked"]) {
      expect(text).toContain(
        `payment_links_consumer_events_total{${labels},outcome="${outcome}",service="test"} 1`,
      );
    }
    expect(text).toContain(`payment_links_consumer_lag_seconds_count{service="test",${labels}} 1`);
    expect(text).toContain(`payment_links_dead_letters_total{${labels},service="test"} 1`);
    expect(text).toMatch(/last_progress_timestamp_seconds\{.*\} \d{10}/);
    await eventually(
      () => metrics.getSingleMetricAsString("payment_links_dead_letters_parked"),
      (gauge) => gauge.includes("} 1"),
    );
  });
});

describe("the marks of a topic's sender", () => {
  const mark = (minute: number, partition: number) =>
    received(
      {
        topic,
        key: "outbox.mark",
        value: "{}",
        headers: {
          ce_type: "outbox.mark",
          ce_time: `2026-11-22T10:0${minute}:00.000Z`,
          partitions: "2",
        },
      },
      { partition },
    );
  const heardUntil = async () =>
    (await findHeardUntil(database.pool, { group, topic }))?.toISOString().slice(14, 16);

  test("tell until when all was heard: in every partition, and never back", async () => {
    await start();
    await bus.handOver([mark(2, 0)]);
    expect(await heardUntil()).toBeUndefined();
    await bus.handOver([mark(3, 1)]);
    expect(await heardUntil()).toBe("02");
    await bus.handOver([mark(1, 0), mark(4, 0)]);
    await bus.handOver([mark(1, 1)]);
    expect(await heardUntil()).toBe("03");
  });

  test("count for nothing while anything of the topic is parked", async () => {
    const { bad } = keys();
    await start(() => Promise.reject(refuse("NOT_FOUND")));
    await bus.handOver([mark(1, 0)]);
    await bus.handOver([mark(1, 1)]);
    await bus.handOver([event(bad, 1), mark(2, 0)]);
    await bus.handOver([mark(2, 1)]);
    expect(await heardUntil()).toBeUndefined();
    await replay(write);
    expect(await heardUntil()).toBe("01");
    await bus.handOver([mark(3, 0)]);
    await bus.handOver([mark(3, 1)]);
    expect(await heardUntil()).toBe("03");
  });
});

describe("a record that comes again", () => {
  test("is set aside once, wherever it lies now", async () => {
    const { bad } = keys();
    await start(() => Promise.reject(refuse("NOT_FOUND")));
    const records = [event(bad, 1), event(bad, 2)];
    await bus.handOver(records);
    await bus.handOver(records.map((record, index) => ({ ...record, offset: `${900 + index}` })));
    expect(await parked()).toHaveLength(2);
  });
});

describe("a consumer's position (rule KEEP-5)", () => {
  const positionOf = async () => {
    const { rows } = await database.admin.query<{ at: string }>(
      "SELECT cluster_id || ':' || next_offset AS at FROM positions WHERE consumer = $1",
      [group],
    );
    return rows.map((row) => row.at);
  };
  const setPosition = (nextOffset: number) =>
    database.admin.query("UPDATE positions SET next_offset = $2 WHERE consumer = $1", [
      group,
      nextOffset,
    ]);

  test("moves with what is applied, parked or ignored, in the same transaction", async () => {
    const { a, bad } = keys();
    await start(async (tx, data, envelope) => {
      await write(tx, data, envelope);
      if (envelope.key === bad) throw refuse("NOT_FOUND");
      const { rows } = await database.admin.query(
        "SELECT FROM positions WHERE consumer = $1 AND next_offset > 7",
        [group],
      );
      expect(rows).toEqual([]);
    });
    await bus.handOver([at(7, event(a, 1))]);
    expect(await positionOf()).toEqual(["cluster:8"]);
    await bus.handOver([at(9, event(bad, 1))]);
    expect(await positionOf()).toEqual(["cluster:10"]);
    const ignored = received(testRecord(topic, { key: a, step: 1, type: "thing.invented" }));
    await bus.handOver([at(10, ignored)]);
    expect(await positionOf()).toEqual(["cluster:11"]);
  });

  test("moves, and says which keys have parked records, by one statement of the transaction", async () => {
    const { a, bad } = keys();
    await start(async (tx, data, envelope) => {
      if (envelope.key === bad) throw refuse("NOT_FOUND");
      await write(tx, data, envelope);
    });
    await bus.handOver([at(1, event(bad, 1))]);
    const statements = listStatements();
    await bus.handOver([at(2, event(bad, 2)), at(3, event(a, 1))]);
    // What is written and counted besides is none of the position's business.
    expect(statements.stop().filter((text) => !/INSERT|count\(/.test(text))).toEqual([
      "START TRANSACTION",
      expect.stringMatching(/^WITH moved AS/),
      "COMMIT",
    ]);
    expect((await parked()).map(({ reason }) => reason)).toEqual([
      expect.any(String),
      "parked behind an earlier record of the same key",
    ]);
    expect(await effectsOf(a)).toEqual([`${a}:1`]);
  });

  test("stays where it was if what lies before it could not be applied yet", async () => {
    const { a } = keys();
    const clock = createHeldClock(new Date());
    let tries = 0;
    await start(
      async (tx, data, envelope) => {
        if (data.step === 1) return write(tx, data, envelope);
        tries += 1;
        throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
      },
      { clock },
    );
    await bus.handOver([at(3, event(a, 1))]);
    const stopping = new AbortController();
    const handled = bus.handOver([at(4, event(a, 2))], stopping.signal);
    await eventually(
      () => tries,
      (count) => count > 0,
    );
    stopping.abort();
    expect(await handled).toEqual({ handledCount: 0 });
    expect(await positionOf()).toEqual(["cluster:4"]);
  });

  test("keeps what another member applied meanwhile from being applied again", async () => {
    const { a } = keys();
    const other = createHandBus();
    const applied: number[] = [];
    const slowly: Apply = async (tx, data, envelope) => {
      const isOtherWaiting = async () => (await countLockWaits(tx)) === 1;
      if (data.step === 2) await waitUntil("the other member waits", isOtherWaiting);
      await write(tx, data, envelope);
      applied.push(data.step);
    };
    await start(slowly);
    await start(slowly, { bus: other });
    const records = [1, 2, 3].map((step) => at(step, event(a, step)));
    await bus.handOver(records.slice(0, 1));
    const both = [bus.handOver(records.slice(1)), other.handOver(records)];
    expect(await Promise.all(both)).toEqual([{ handledCount: 2 }, { handledCount: 3 }]);
    expect(applied).toEqual([1, 2, 3]);
    expect(await positionOf()).toEqual(["cluster:4"]);
  });

  test("shows a member what another was parking, for whom it waited", async () => {
    const { a, bad } = keys();
    await start();
    await bus.handOver([at(1, event(a, 1))]);
    const records = [at(2, event(bad, 1)), at(3, event(bad, 2))];
    // Another member parks the first and is about to commit.
    const former = new Client({ connectionString: database.url });
    await former.connect();
    await former.query("BEGIN");
    await former.query("UPDATE positions SET next_offset = 3 WHERE consumer = $1", [group]);
    await former.query(
      `INSERT INTO dead_letters (consumer, topic, partition, record_offset, key, headers, reason,
         parked_at)
       VALUES ($1, $2, 0, 2, $3, '{}', 'bad', now())`,
      [group, topic, bad],
    );
    const handled = bus.handOver(records);
    await waitUntil("it waits", async () => (await countLockWaits(database.pool)) === 1);
    await former.query("COMMIT");
    await former.end();
    await handled;
    expect(await effectsOf(bad)).toEqual([]);
    expect((await parked()).map(({ offset, reason }) => [offset, reason])).toEqual([
      ["2", "bad"],
      ["3", "parked behind an earlier record of the same key"],
    ]);
  });

  test("sends a member back whose database has lost what it had committed", async () => {
    const { a } = keys();
    await start();
    await bus.handOver([at(1, event(a, 1)), at(2, event(a, 2))]);
    await setPosition(1);
    expect(await bus.handOver([at(3, event(a, 3))])).toEqual({ handledCount: 0, goBack: "behind" });
    expect(await effectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    expect(await positionOf()).toEqual(["cluster:1"]);
    expect(await parked()).toEqual([]);
  });

  test("stays at a reset if what a member holds is of the log before it", async () => {
    const { a } = keys();
    await start();
    await bus.handOver([at(0, event(a, 1))]);
    // The broker has lost its log. This member joins again and begins anew, with a batch still in hand.
    await database.admin.query(
      "UPDATE positions SET next_offset = 0, reset_count = 1 WHERE consumer = $1",
      [group],
    );
    bus.begin({ topic, partition: 0 }, { clusterId: "cluster", resetCount: 1, nextOffset: 0n });
    const late = [at(1, event(a, 2)), at(2, event(a, 3))];
    expect(await bus.handOver(late)).toEqual({ handledCount: 0, goBack: "behind" });
    expect(await effectsOf(a)).toEqual([`${a}:1`]);
    expect(await positionOf()).toEqual(["cluster:0"]);
  });

  test("moves behind what cannot be read only where that is set aside, also in a log made anew", async () => {
    const { a, b } = keys();
    await start();
    const unreadable = (key: string) => ({ ...event(key, 1), value: Buffer.from("{") });
    const first = at(0, unreadable(a));
    await bus.handOver([first, at(1, unreadable(a))]);
    // The broker has lost its log, and another record lies at the offset.
    await database.admin.query(
      `UPDATE positions SET next_offset = 0, reset_count = 1, last_offset = NULL, last_record = NULL
       WHERE consumer = $1`,
      [group],
    );
    const log = { clusterId: "cluster", resetCount: 1 };
    bus.begin({ topic, partition: 0 }, { ...log, nextOffset: 0n });
    expect(await bus.handOver([{ ...at(0, unreadable(b)), log }])).toEqual({ handledCount: 1 });
    expect((await parked()).map(({ eventId, key }) => [eventId, key])).toEqual([
      [null, a],
      [null, a],
      [null, b],
    ]);
    // The very record once more is set aside no second time.
    await setPosition(0);
    await database.admin.query("UPDATE positions SET reset_count = 0 WHERE consumer = $1", [group]);
    bus.begin({ topic, partition: 0 }, { ...log, resetCount: 0, nextOffset: 0n });
    await bus.handOver([first]);
    expect(await parked()).toHaveLength(3);
  });

  test("is given up if another record lies before it than was applied", async () => {
    const { a } = keys();
    await start();
    const records = [0, 1].map((offset) => at(offset, event(a, offset)));
    await bus.handOver(records);
    // Whoever joins begins with what was applied last.
    const next = at(2, event(a, 2));
    expect(await bus.handOver([...records.slice(1), next])).toEqual({ handledCount: 2 });
    const other = [at(2, event(a, 3)), at(3, event(a, 4))];
    expect(await bus.handOver(other)).toEqual({ handledCount: 0, goBack: "log_lost" });
    expect(await effectsOf(a)).toEqual([0, 1, 2].map((step) => `${a}:${step}`));
    expect(await positionOf()).toEqual(["cluster:3"]);
  });

  test("knows no record before it where an older release has moved it", async () => {
    const { a } = keys();
    await start();
    await bus.handOver([at(0, event(a, 0))]);
    await setPosition(2);
    bus.begin({ topic, partition: 0 }, { clusterId: "cluster", resetCount: 0, nextOffset: 2n });
    expect(await bus.handOver([at(1, event(a, 1)), at(2, event(a, 2))])).toEqual({
      handledCount: 2,
    });
    expect(await effectsOf(a)).toEqual([`${a}:0`, `${a}:2`]);
  });

  test("is kept for no bus to which nobody can come back", async () => {
    await start();
    await bus.handOver([event(keys().a, 1)]);
    expect(await positionOf()).toEqual([]);
  });
});

describe("records of several partitions that come together", () => {
  const inPartition = (partition: number, record: ReturnType<typeof event>) => ({
    ...at(1, record),
    partition,
  });
  const positions = async () => {
    const { rows } = await database.admin.query<{ partition: number; at: string }>(
      "SELECT partition, next_offset AS at FROM positions WHERE consumer = $1 ORDER BY partition",
      [group],
    );
    return rows.map(({ partition, at: offset }) => `${partition}:${offset}`);
  };

  test("are applied in one transaction, which one statement moves all their positions in", async () => {
    const { a, b } = keys();
    await start();
    const begun = [0, 1, 2].map((partition) => ({ topic, partition }));
    for (const place of begun) {
      const begin = { clusterId: "cluster", resetCount: 0, nextOffset: 0n };
      await database.admin.query(
        `INSERT INTO positions (consumer, topic, partition, cluster_id, reset_count, next_offset)
         VALUES ($1, $2, $3, 'cluster', 0, 0)`,
        [group, topic, place.partition],
      );
      bus.begin(place, begin);
    }
    const statements = listStatements();
    const handled = await Promise.all([
      bus.handOver([inPartition(2, event(a, 2))]),
      bus.handOver([inPartition(0, event(b, 1))]),
      bus.handOver([inPartition(1, event(a, 1))]),
    ]);
    expect(statements.stop().filter((text) => !/INSERT|count\(/.test(text))).toEqual([
      "START TRANSACTION",
      expect.stringMatching(/^WITH moved AS/),
      "COMMIT",
    ]);
    expect(handled).toEqual([{ handledCount: 1 }, { handledCount: 1 }, { handledCount: 1 }]);
    expect(await effectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    expect(await effectsOf(b)).toEqual([`${b}:1`]);
    expect(await positions()).toEqual(["0:2", "1:2", "2:2"]);
  });

  test("one that cannot be applied is set aside alone", async () => {
    const { a, b, bad } = keys();
    await start(async (tx, data, envelope) => {
      await write(tx, data, envelope);
      if (envelope.key === bad) throw refuse("NOT_FOUND");
    });
    const handled = await Promise.all([
      bus.handOver([inPartition(0, event(a, 1))]),
      bus.handOver([inPartition(1, event(bad, 1))]),
      bus.handOver([inPartition(2, event(b, 1))]),
    ]);
    expect(handled).toEqual([{ handledCount: 1 }, { handledCount: 1 }, { handledCount: 1 }]);
    expect([await effectsOf(a), await effectsOf(b)]).toEqual([[`${a}:1`], [`${b}:1`]]);
    expect(await effectsOf(bad)).toEqual([]);
    expect((await parked()).map(({ partition, offset }) => [partition, offset])).toEqual([
      [1, "1"],
    ]);
    expect(await positions()).toEqual(["0:2", "1:2", "2:2"]);
  });

  test("one that waits holds up its own partition alone", async () => {
    const { a, bad } = keys();
    await start(
      async (tx, data, envelope) => {
        if (envelope.key === bad) throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
        await write(tx, data, envelope);
      },
      { clock: createHeldClock(new Date()) },
    );
    const stopping = new AbortController();
    const waiting = bus.handOver([inPartition(0, event(bad, 1))], stopping.signal);
    const handled = bus.handOver([inPartition(1, event(a, 1))]);
    expect(await handled).toEqual({ handledCount: 1 });
    stopping.abort();
    expect(await waiting).toEqual({ handledCount: 0 });
    expect(await positions()).toEqual(["1:2"]);
  });

  test("only the partition goes back whose position lies before its records", async () => {
    const { a, b } = keys();
    await start();
    await Promise.all([
      bus.handOver([inPartition(0, event(a, 1))]),
      bus.handOver([inPartition(1, event(b, 1))]),
    ]);
    await database.admin.query(
      "UPDATE positions SET next_offset = 1 WHERE consumer = $1 AND partition = 1",
      [group],
    );
    const next = (partition: number, record: ReturnType<typeof event>) => ({
      ...at(2, record),
      partition,
    });
    const handled = await Promise.all([
      bus.handOver([next(0, event(a, 2))]),
      bus.handOver([next(1, event(b, 2))]),
    ]);
    expect(handled).toEqual([{ handledCount: 1 }, { handledCount: 0, goBack: "behind" }]);
    expect(await positions()).toEqual(["0:3", "1:1"]);
  });
});

describe("the replay of dead letters (rule KEEP-6)", () => {
  const whole = { failures: [], isCutShort: false, nextAfterSeq: null };
  const refuseAll: Apply = () => Promise.reject(refuse("NOT_FOUND"));

  test("applies what was parked in order, once, and lets the key go on", async () => {
    const { a, bad } = keys();
    await start((tx, data, envelope) =>
      envelope.key === bad ? refuseAll(tx, data, envelope) : write(tx, data, envelope),
    );
    const records = [1, 2, 3].map((step) => event(bad, step));
    await bus.handOver([...records, event(a, 1)]);
    expect(await replay()).toEqual({ replayedCount: 3, ...whole });
    expect(await replay()).toEqual({ replayedCount: 0, ...whole });
    await start();
    await bus.handOver([...records, event(bad, 4)]);
    expect(await effectsOf(bad)).toEqual([1, 2, 3, 4].map((step) => `${bad}:${step}`));
  });

  test("stops a key at its first failure and goes on with the others", async () => {
    const { a, bad } = keys();
    await start(refuseAll);
    await bus.handOver([1, 2, 3].flatMap((step) => [event(bad, step), event(a, step)]));
    const { replayedCount, failures } = await replay((tx, data, envelope) =>
      envelope.key === bad && data.step === 2
        ? refuseAll(tx, data, envelope)
        : write(tx, data, envelope),
    );
    expect({ replayedCount, failures }).toMatchObject({
      replayedCount: 4,
      failures: [{ key: bad, topic, reason: "NOT_FOUND" }],
    });
    expect(await effectsOf(bad)).toEqual([`${bad}:1`]);
    expect(await effectsOf(a)).toEqual([1, 2, 3].map((step) => `${a}:${step}`));
    expect((await parked()).map(({ key }) => key)).toEqual([bad, bad]);
  });

  test("replays one key alone where one is named", async () => {
    const { a, b } = keys();
    await start(refuseAll);
    await bus.handOver([event(a, 1), event(b, 1)]);
    expect(await replay(write, { key: b })).toMatchObject({ replayedCount: 1 });
    expect((await parked()).map(({ key }) => key)).toEqual([a]);
  });

  test("comes to those behind a thousand hopeless lanes, from where the one before it ended", async () => {
    const { a } = keys();
    await start(refuseAll);
    const hopeless = Array.from({ length: 1_000 }, () => event(fresh("hopeless"), 1));
    await bus.handOver([...hopeless, event(a, 1)]);
    const pick: Apply = (tx, data, envelope) =>
      envelope.key === a ? write(tx, data, envelope) : refuseAll(tx, data, envelope);
    const first = await replay(pick);
    expect(first).toMatchObject({ replayedCount: 0, isCutShort: true });
    const second = await replay(pick, { afterSeq: first.nextAfterSeq ?? "" });
    expect(second).toEqual({ replayedCount: 1, ...whole });
    expect(await effectsOf(a)).toEqual([`${a}:1`]);
  });

  test("goes on behind a record that was discarded, which is kept with the reason", async () => {
    const { bad } = keys();
    await start(refuseAll);
    await bus.handOver([event(bad, 1), event(bad, 2)]);
    const [first] = await parked();
    const discard = (seq = first?.seq ?? "") =>
      discardDeadLetter(database.pool, { group, seq, because: "a test", now: new Date() });
    expect([await discard(), await discard()]).toEqual([true, false]);
    expect(await replay()).toEqual({ replayedCount: 1, ...whole });
    expect(await effectsOf(bad)).toEqual([`${bad}:2`]);
    const { rows } = await database.admin.query(
      "SELECT seq, key, discarded_because AS because FROM discarded_letters WHERE consumer = $1",
      [group],
    );
    expect(rows).toEqual([{ seq: first?.seq, key: bad, because: "a test" }]);
  });

  test("applies once what was unreadable when it came and came again since", async () => {
    const { bad } = keys();
    const stricter = on({ ...testEvent(topic), data: z.object({ step: z.int().max(5) }) }, () =>
      Promise.resolve(),
    );
    const first = await start(write, { reactions: [stricter] });
    const record = event(bad, 6);
    await bus.handOver([record]);
    await first.stop();
    expect(await parked()).toHaveLength(1);
    await start();
    await bus.handOver([record]);
    await replay();
    expect(await effectsOf(bad)).toEqual([`${bad}:6`]);
    expect(await parked()).toEqual([]);
  });

  test("a record that arrives during a replay of its key is applied after it", async () => {
    const { a, bad } = keys();
    const first = await start(refuseAll);
    await bus.handOver([event(bad, 1), event(bad, 2)]);
    await first.stop();
    const [replaying, applying] = [createGate(), createGate()];
    await start(async (tx, data, envelope) => {
      if (envelope.key === a) await applying.pass();
      await write(tx, data, envelope);
    });
    const replayed = replay(async (tx, data, envelope) => {
      if (data.step === 2) await replaying.pass();
      await write(tx, data, envelope);
    });
    await replaying.reached;
    const handled = bus.handOver([event(a, 1), event(bad, 3)]);
    // The replay goes on once the newcomer waits for it, or has looked without waiting.
    let hasLooked = false;
    void applying.reached.then(() => (hasLooked = true));
    await waitUntil(
      "the newcomer waits, or has looked",
      async () => hasLooked || (await countLockWaits(database.pool)) === 1,
    );
    replaying.open();
    await replayed;
    applying.open();
    await handled;
    expect(await effectsOf(bad)).toEqual([1, 2, 3].map((step) => `${bad}:${step}`));
    expect(await parked()).toEqual([]);
  });
});

/** A place where a handler waits until the test lets it pass. */
const createGate = () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const pass = (): Promise<void> => {
    reach();
    return opened;
  };
  return { reached, open, pass };
};

/** Lists what all connections of this process send to Postgres, until it is stopped. */
const listStatements = (): { stop: () => string[] } => {
  const query: unknown = Reflect.get(Client.prototype, "query");
  const texts: string[] = [];
  Client.prototype.query = function listing(this: Client, ...given: unknown[]): unknown {
    const [first] = given;
    texts.push((typeof first === "string" ? first : (first as { text: string }).text).trim());
    return Reflect.apply(query as () => unknown, this, given);
  } as Client["query"];
  return {
    stop: () => {
      Client.prototype.query = query as Client["query"];
      return texts;
    },
  };
};
