import assert from "node:assert";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { sql } from "slonik";
import * as z from "zod";
import { createApiError } from "@payment-links/contracts";
import { createFakeClock, createMetrics, systemClock } from "@payment-links/runtime";
import { countLockWaits } from "@payment-links/postgres/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Consumer, type ConsumerOptions, startConsumer } from "./consumer.ts";
import { discardDeadLetter, listDeadLetters } from "./dead-letters.ts";
import { findReceivedUntil } from "./watermarks.ts";
import { createOutgoingEvent, publish } from "./outbox.ts";
import { type EventHandler, type RegisteredHandler, on } from "./event-handlers.ts";
import { replayDeadLetters } from "./replay.ts";
import {
  type ManualBus,
  createManualBus,
  eventually,
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

const database = useRig(createTestSchema);
let bus: ManualBus;
let group: string;
let metrics = createMetrics("test");
const consumers: Consumer[] = [];

beforeEach(() => {
  bus = createManualBus();
  group = createUniqueName("group");
  metrics = createMetrics("test");
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
});

type ThingHandler = EventHandler<ReturnType<typeof createTestEventType>>;

const writeStep: ThingHandler = (tx, { step }, { key }) => writeEffect(tx, { key, step });

const createHandlers = (apply: ThingHandler = writeStep): RegisteredHandler[] => [
  on(createTestEventType(topic), apply),
];

const startTestConsumer = async (
  apply?: ThingHandler,
  overrides: Partial<ConsumerOptions> = {},
): Promise<Consumer> => {
  const consumer = await startConsumer({
    bus,
    group,
    metrics,
    pool: database.pool,
    handlers: createHandlers(apply),
    clock: systemClock,
    log: silentLog,
    ...overrides,
  });
  consumers.push(consumer);
  return consumer;
};

/** Keys are unique per test, because tests share the tables. */
const createKeys = () => ({
  a: createUniqueName("a"),
  b: createUniqueName("b"),
  bad: createUniqueName("bad"),
});

const createEventRecord = (key: string, step: number) =>
  toReceivedRecord(createTestRecord(topic, { key, step }));

/** Assigns a record an offset in a log that stores its records. */
const placeAtOffset = (offset: number, record: ReturnType<typeof createEventRecord>) => ({
  ...record,
  offset: String(offset),
  log: { clusterId: "cluster", resetCount: 0 },
});

const listDeadLettersOfGroup = () => listDeadLetters({ pool: database.pool, group });

const replayGroup = (apply?: ThingHandler, filter: { key?: string; afterSeq?: string } = {}) =>
  replayDeadLetters({ pool: database.pool, group, handlers: createHandlers(apply), ...filter });

const readEffectsOf = (key: string) => readEffects(database.pool, key);

describe("a consumer", () => {
  test("ignores unknown types and unknown fields (rule EVENT-4)", async () => {
    const { a } = createKeys();
    await startTestConsumer();
    const { handledCount } = await bus.deliver([
      toReceivedRecord(createTestRecord(topic, { key: a, step: 1, type: "thing.invented" }), {
        value: undefined,
      }),
      toReceivedRecord({
        ...createTestRecord(topic, { key: a, step: 2 }),
        value: '{"step":2,"colour":"red"}',
      }),
    ]);
    expect(handledCount).toBe(2);
    expect(await readEffectsOf(a)).toEqual([`${a}:2`]);
    expect(await listDeadLettersOfGroup()).toEqual([]);
  });

  const valid = createTestRecord(topic, { key: "k", step: 1 }).headers;
  test.each([
    ["no headers", { headers: {} }, "the header ce_type is missing"],
    ["no id", { headers: { ...valid, ce_id: "" } }, /^headers: ce_id/],
    ["an id that no column can hold", { headers: { ...valid, ce_id: "a\0b" } }, /^headers: ce_id/],
    ["no time", { headers: { ...valid, ce_time: "yesterday" } }, /^headers: ce_time/],
    ["a time before 1970", { headers: { ...valid, ce_time: "0000-01-01T00:00:00Z" } }, /ce_time/],
    ["no value", { value: undefined }, "the value is missing"],
    ["bytes that are not text", { value: Buffer.from([0xff]) }, "the value is not UTF-8"],
    ["text that is not JSON", { value: Buffer.from("{") }, "the value is not JSON"],
    ["data with another shape", { value: Buffer.from('{"step":"one"}') }, /^data: step/],
  ])(
    "dead-letters a record with %s, and continues (rules EVENT-4 and KEEP-6)",
    async (_, overrides, reason) => {
      const { a, bad } = createKeys();
      await startTestConsumer();
      const brokenRecord = toReceivedRecord(
        createTestRecord(topic, { key: bad, step: 1 }),
        overrides,
      );
      await bus.deliver([brokenRecord, createEventRecord(bad, 2), createEventRecord(a, 1)]);
      await bus.deliver([brokenRecord, createEventRecord(bad, 3)]);
      expect(await readEffectsOf(a)).toEqual([`${a}:1`]);
      expect(await readEffectsOf(bad)).toEqual([]);
      expect((await listDeadLettersOfGroup()).map((deadLetter) => deadLetter.reason)).toEqual([
        typeof reason === "string" ? reason : expect.stringMatching(reason),
        "parked behind an earlier record of the same key",
        "parked behind an earlier record of the same key",
      ]);
    },
  );

  test("dead-letters records that Postgres cannot store unchanged, and preserves their bytes", async () => {
    const { a } = createKeys();
    await startTestConsumer();
    const value = Buffer.from([0, 1, 0xfe]);
    const headers = { ...valid, "odd\0": "\0" };
    await bus.deliver([
      toReceivedRecord(createTestRecord(topic, { key: a, step: 1 }), {
        key: `${a}\0`,
        headers,
        value,
      }),
      toReceivedRecord(createTestRecord(topic, { key: a, step: 1 }), { key: undefined, value }),
      toReceivedRecord(createTestRecord(topic, { key: a, step: 1 }), { key: undefined }),
      createEventRecord(a, 2),
    ]);
    const [firstDeadLetter] = await listDeadLettersOfGroup();
    expect(firstDeadLetter?.key).toBe(`${a}\uFFFD`);
    const { rows } = await database.admin.query<{ value: Buffer }>(
      "SELECT value FROM dead_letters WHERE consumer = $1",
      [group],
    );
    expect(rows.map((row) => row.value)).toEqual([value, value]);
    // Records without a key are not ordered, so the valid record is applied although it follows an
    // invalid one.
    expect(await readEffects(database.pool, "")).toContain(":1");
    expect(await readEffectsOf(a)).toEqual([`${a}:2`]);
  });

  const invalidValue = Buffer.from('{"step":"one"}');
  const manyHeaders = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, "x"]),
  );
  test.each([
    [
      "a key too long for an index",
      { key: randomBytes(20_000).toString("hex"), value: invalidValue },
    ],
    [
      "a time that SQL formats differently",
      { headers: { ...valid, ce_time: "9999-12-31T23:00:00-05:00" } },
    ],
    [
      "a header too large for a message",
      { headers: { ...valid, odd: "x".repeat(2_000_000) }, value: invalidValue },
    ],
    ["too many headers", { headers: { ...manyHeaders, ...valid }, value: invalidValue }],
  ])("dead-letters a record with %s within its limits, and continues", async (_, overrides) => {
    const { a, bad } = createKeys();
    await startTestConsumer();
    const brokenRecord = toReceivedRecord(
      createTestRecord(topic, { key: bad, step: 1 }),
      overrides,
    );
    await bus.deliver([brokenRecord, createEventRecord(a, 1)]);
    expect(await readEffectsOf(a)).toEqual([`${a}:1`]);
    expect(await listDeadLettersOfGroup()).toHaveLength(1);
    const { rows } = await database.admin.query<{ value: string }>(
      "SELECT value FROM outbox WHERE type = 'dead_letter.parked' ORDER BY seq DESC LIMIT 1",
    );
    expect(rows[0]?.value.length).toBeLessThan(64 * 1024);
    expect(await replayGroup()).toMatchObject({ replayedCount: 0, failures: [{ topic }] });
  });

  test.each([
    ["an API error", () => createApiError("NOT_FOUND")],
    ["a broken invariant", () => new assert.AssertionError({ message: "an invariant broke" })],
  ])(
    "dead-letters a record immediately after %s, and rolls back its handler",
    async (_, createError) => {
      const { a, bad } = createKeys();
      let attemptCount = 0;
      await startTestConsumer(async (tx, data, envelope) => {
        await writeStep(tx, data, envelope);
        if (envelope.key !== bad) return;
        attemptCount += 1;
        throw createError();
      });
      await bus.deliver([
        createEventRecord(a, 1),
        createEventRecord(bad, 1),
        createEventRecord(a, 2),
      ]);
      expect(await readEffectsOf(bad)).toEqual([]);
      expect(await readEffectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
      // The handler sees the event in the whole chunk, in half of the chunk, and alone.
      expect(attemptCount).toBe(3);
      expect(await listDeadLettersOfGroup()).toHaveLength(1);
    },
  );

  test("retries a failure of unknown cause several times before dead-lettering the record", async () => {
    const { a, bad } = createKeys();
    const attemptCount: Record<string, number> = {};
    await startTestConsumer(async (tx, data, envelope) => {
      const count = (attemptCount[envelope.key] = (attemptCount[envelope.key] ?? 0) + 1);
      if (envelope.key === bad || count <= 3) throw new TypeError("not yet");
      await writeStep(tx, data, envelope);
    });
    await bus.deliver([createEventRecord(a, 1)]);
    await bus.deliver([createEventRecord(bad, 1)]);
    expect(await readEffectsOf(a)).toEqual([`${a}:1`]);
    expect(attemptCount[bad]).toBe(5);
    expect((await listDeadLettersOfGroup()).map(({ key }) => key)).toEqual([bad]);
  });

  test("announces a dead letter on its own topic, with reason and location (rule KEEP-6)", async () => {
    const { bad } = createKeys();
    await startTestConsumer(() => Promise.reject(createApiError("NOT_FOUND")));
    const record = toReceivedRecord(createTestRecord(topic, { key: bad, step: 7 }), {
      partition: 4,
    });
    await bus.deliver([record]);
    const { rows } = await database.admin.query<{ topic: string; type: string; value: string }>(
      "SELECT topic, type, value FROM outbox WHERE key = $1",
      [bad],
    );
    expect(rows.map((row) => ({ topic: row.topic, type: row.type }))).toEqual([
      { topic: `${topic}.dead-letter`, type: "dead_letter.parked" },
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
      reason: "ApiError: NOT_FOUND",
    });
  });

  test("waits for a database that fails midway, and does not dead-letter any record", async () => {
    const { a, b } = createKeys();
    let killCount = 0;
    await startTestConsumer(async (tx, data, envelope) => {
      await writeStep(tx, data, envelope);
      if (killCount >= 3) return;
      killCount += 1;
      const { pid } = await tx.one(sql.type(z.object({ pid: z.number() }))`
        SELECT pg_backend_pid() AS pid
      `);
      await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
    });
    const { handledCount } = await bus.deliver([
      createEventRecord(a, 1),
      createEventRecord(b, 1),
      createEventRecord(a, 2),
    ]);
    expect({ handledCount, kills: killCount }).toEqual({ handledCount: 3, kills: 3 });
    expect(await readEffectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    expect(await readEffectsOf(b)).toEqual([`${b}:1`]);
    expect(await listDeadLettersOfGroup()).toEqual([]);
  });

  test("waits however long the database is unavailable, and can be stopped meanwhile (rule KEEP-6)", async () => {
    const { a, b } = createKeys();
    const clock = createFakeClock(new Date());
    let attemptCount = 0;
    await startTestConsumer(
      (tx, data, envelope) => {
        if (envelope.key === a) return writeStep(tx, data, envelope);
        attemptCount += 1;
        return Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
      },
      { clock },
    );
    const stopController = new AbortController();
    const blockedBatch = Array.from({ length: 250 }, (_, step) => createEventRecord(a, step));
    const handling = bus.deliver(
      [...blockedBatch, createEventRecord(b, 1), createEventRecord(b, 2)],
      stopController.signal,
    );
    await eventually(
      () => {
        clock.advance(5_000);
        return attemptCount;
      },
      (count) => count > 20,
    );
    stopController.abort();
    expect(await handling).toEqual({ handledCount: 250 });
    expect(await readEffectsOf(b)).toEqual([]);
    expect(await listDeadLettersOfGroup()).toEqual([]);
  });

  test("calls afterCommit only after a commit that published events", async () => {
    const { a, b, bad } = createKeys();
    const publishedEvent = createTestEventType(createUniqueName("told"));
    let commitCount = 0;
    await startTestConsumer(
      async (tx, data, envelope) => {
        if (envelope.key === bad) throw createApiError("NOT_FOUND");
        if (envelope.key !== a) return;
        await publish(tx, [
          createOutgoingEvent(publishedEvent, { key: a, occurredAt: new Date(), data }),
        ]);
      },
      { afterCommit: () => (commitCount += 1) },
    );
    await bus.deliver([createEventRecord(b, 1)]);
    expect(commitCount).toBe(0);
    await bus.deliver([createEventRecord(a, 1)]);
    expect(commitCount).toBe(1);
    // Dead-lettering also publishes an event.
    await bus.deliver([createEventRecord(bad, 1)]);
    expect(commitCount).toBe(2);
  });

  test("counts the results of records and measures their lag", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer((tx, data, envelope) =>
      envelope.key === bad
        ? Promise.reject(createApiError("NOT_FOUND"))
        : writeStep(tx, data, envelope),
    );
    const record = createEventRecord(a, 1);
    await bus.deliver(
      [record, createEventRecord(bad, 1)].map((eventRecord, index) =>
        placeAtOffset(index, eventRecord),
      ),
    );
    await bus.deliver([placeAtOffset(0, record)]);
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
      (metricText) => metricText.includes("} 1"),
    );
  });
});

describe("watermarks", () => {
  const createWatermark = (minute: number, partition: number) =>
    toReceivedRecord(
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
  const readReceivedUntilMinute = async () =>
    (await findReceivedUntil(database.pool, { group, topic }))?.toISOString().slice(14, 16);

  test("report the received-until time across all partitions, and never move it back", async () => {
    await startTestConsumer();
    await bus.deliver([createWatermark(2, 0)]);
    expect(await readReceivedUntilMinute()).toBeUndefined();
    await bus.deliver([createWatermark(3, 1)]);
    expect(await readReceivedUntilMinute()).toBe("02");
    await bus.deliver([createWatermark(1, 0), createWatermark(4, 0)]);
    await bus.deliver([createWatermark(1, 1)]);
    expect(await readReceivedUntilMinute()).toBe("03");
  });

  test("are not applied while the topic has dead letters", async () => {
    const { bad } = createKeys();
    await startTestConsumer(() => Promise.reject(createApiError("NOT_FOUND")));
    await bus.deliver([createWatermark(1, 0)]);
    await bus.deliver([createWatermark(1, 1)]);
    await bus.deliver([createEventRecord(bad, 1), createWatermark(2, 0)]);
    await bus.deliver([createWatermark(2, 1)]);
    expect(await readReceivedUntilMinute()).toBeUndefined();
    await replayGroup(writeStep);
    expect(await readReceivedUntilMinute()).toBe("01");
    await bus.deliver([createWatermark(3, 0)]);
    await bus.deliver([createWatermark(3, 1)]);
    expect(await readReceivedUntilMinute()).toBe("03");
  });
});

describe("a redelivered record", () => {
  test("is dead-lettered once, even at a new offset", async () => {
    const { bad } = createKeys();
    await startTestConsumer(() => Promise.reject(createApiError("NOT_FOUND")));
    const records = [createEventRecord(bad, 1), createEventRecord(bad, 2)];
    await bus.deliver(records);
    await bus.deliver(records.map((record, index) => ({ ...record, offset: `${900 + index}` })));
    expect(await listDeadLettersOfGroup()).toHaveLength(2);
  });
});

describe("a consumer's position (rule KEEP-5)", () => {
  const readPositions = async () => {
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

  test("moves with applied, dead-lettered and ignored records, in the same transaction", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer(async (tx, data, envelope) => {
      await writeStep(tx, data, envelope);
      if (envelope.key === bad) throw createApiError("NOT_FOUND");
      const { rows } = await database.admin.query(
        "SELECT FROM positions WHERE consumer = $1 AND next_offset > 7",
        [group],
      );
      expect(rows).toEqual([]);
    });
    await bus.deliver([placeAtOffset(7, createEventRecord(a, 1))]);
    expect(await readPositions()).toEqual(["cluster:8"]);
    await bus.deliver([placeAtOffset(9, createEventRecord(bad, 1))]);
    expect(await readPositions()).toEqual(["cluster:10"]);
    const ignoredRecord = toReceivedRecord(
      createTestRecord(topic, { key: a, step: 1, type: "thing.invented" }),
    );
    await bus.deliver([placeAtOffset(10, ignoredRecord)]);
    expect(await readPositions()).toEqual(["cluster:11"]);
  });

  test("moves, and returns the keys with dead letters, in one statement", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer(async (tx, data, envelope) => {
      if (envelope.key === bad) throw createApiError("NOT_FOUND");
      await writeStep(tx, data, envelope);
    });
    await bus.deliver([placeAtOffset(1, createEventRecord(bad, 1))]);
    const recorder = recordStatements();
    await bus.deliver([
      placeAtOffset(2, createEventRecord(bad, 2)),
      placeAtOffset(3, createEventRecord(a, 1)),
    ]);
    // Ignores inserts and counts, which do not belong to the position update.
    expect(recorder.stop().filter((text) => !/INSERT|count\(/.test(text))).toEqual([
      "START TRANSACTION",
      expect.stringMatching(/^WITH moved AS/),
      "COMMIT",
    ]);
    expect((await listDeadLettersOfGroup()).map(({ reason }) => reason)).toEqual([
      expect.any(String),
      "parked behind an earlier record of the same key",
    ]);
    expect(await readEffectsOf(a)).toEqual([`${a}:1`]);
  });

  test("does not move while a record cannot be applied yet", async () => {
    const { a } = createKeys();
    const clock = createFakeClock(new Date());
    let attemptCount = 0;
    await startTestConsumer(
      async (tx, data, envelope) => {
        if (data.step === 1) return writeStep(tx, data, envelope);
        attemptCount += 1;
        throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
      },
      { clock },
    );
    await bus.deliver([placeAtOffset(3, createEventRecord(a, 1))]);
    const stopController = new AbortController();
    const handling = bus.deliver(
      [placeAtOffset(4, createEventRecord(a, 2))],
      stopController.signal,
    );
    await eventually(
      () => attemptCount,
      (count) => count > 0,
    );
    stopController.abort();
    expect(await handling).toEqual({ handledCount: 0 });
    expect(await readPositions()).toEqual(["cluster:4"]);
  });

  test("prevents a member from applying records that another member applied meanwhile", async () => {
    const { a } = createKeys();
    const otherBus = createManualBus();
    const appliedSteps: number[] = [];
    const writeSlowly: ThingHandler = async (tx, data, envelope) => {
      const isOtherWaiting = async () => (await countLockWaits(tx)) === 1;
      if (data.step === 2) await waitUntil("the other member waits", isOtherWaiting);
      await writeStep(tx, data, envelope);
      appliedSteps.push(data.step);
    };
    await startTestConsumer(writeSlowly);
    await startTestConsumer(writeSlowly, { bus: otherBus });
    const records = [1, 2, 3].map((step) => placeAtOffset(step, createEventRecord(a, step)));
    await bus.deliver(records.slice(0, 1));
    const handlings = [bus.deliver(records.slice(1)), otherBus.deliver(records)];
    expect(await Promise.all(handlings)).toEqual([{ handledCount: 2 }, { handledCount: 3 }]);
    expect(appliedSteps).toEqual([1, 2, 3]);
    expect(await readPositions()).toEqual(["cluster:4"]);
  });

  test("shows a member the dead letters that another member was committing", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer();
    await bus.deliver([placeAtOffset(1, createEventRecord(a, 1))]);
    const records = [
      placeAtOffset(2, createEventRecord(bad, 1)),
      placeAtOffset(3, createEventRecord(bad, 2)),
    ];
    // Another member dead-letters the first record and is about to commit.
    const formerClient = new Client({ connectionString: database.url });
    await formerClient.connect();
    await formerClient.query("BEGIN");
    await formerClient.query("UPDATE positions SET next_offset = 3 WHERE consumer = $1", [group]);
    await formerClient.query(
      `INSERT INTO dead_letters (consumer, topic, partition, record_offset, key, headers, reason,
         parked_at)
       VALUES ($1, $2, 0, 2, $3, '{}', 'bad', now())`,
      [group, topic, bad],
    );
    const handling = bus.deliver(records);
    await waitUntil(
      "the query waits for a lock",
      async () => (await countLockWaits(database.pool)) === 1,
    );
    await formerClient.query("COMMIT");
    await formerClient.end();
    await handling;
    expect(await readEffectsOf(bad)).toEqual([]);
    expect((await listDeadLettersOfGroup()).map(({ offset, reason }) => [offset, reason])).toEqual([
      ["2", "bad"],
      ["3", "parked behind an earlier record of the same key"],
    ]);
  });

  test("rewinds a member whose database has lost its commits", async () => {
    const { a } = createKeys();
    await startTestConsumer();
    await bus.deliver([
      placeAtOffset(1, createEventRecord(a, 1)),
      placeAtOffset(2, createEventRecord(a, 2)),
    ]);
    await setPosition(1);
    expect(await bus.deliver([placeAtOffset(3, createEventRecord(a, 3))])).toEqual({
      handledCount: 0,
      rewindReason: "behind",
    });
    expect(await readEffectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    expect(await readPositions()).toEqual(["cluster:1"]);
    expect(await listDeadLettersOfGroup()).toEqual([]);
  });

  test("stays reset when a member still holds records of the previous log", async () => {
    const { a } = createKeys();
    await startTestConsumer();
    await bus.deliver([placeAtOffset(0, createEventRecord(a, 1))]);
    // The broker lost its log. The member rejoins and restarts while it is still processing a batch
    // of the previous log.
    await database.admin.query(
      "UPDATE positions SET next_offset = 0, reset_count = 1 WHERE consumer = $1",
      [group],
    );
    bus.onSeek({ topic, partition: 0 }, { clusterId: "cluster", resetCount: 1, nextOffset: 0n });
    const lateRecords = [
      placeAtOffset(1, createEventRecord(a, 2)),
      placeAtOffset(2, createEventRecord(a, 3)),
    ];
    expect(await bus.deliver(lateRecords)).toEqual({ handledCount: 0, rewindReason: "behind" });
    expect(await readEffectsOf(a)).toEqual([`${a}:1`]);
    expect(await readPositions()).toEqual(["cluster:0"]);
  });

  test("moves past unreadable records only once they are dead-lettered, also in a recreated log", async () => {
    const { a, b } = createKeys();
    await startTestConsumer();
    const createUnreadableRecord = (key: string) => ({
      ...createEventRecord(key, 1),
      value: Buffer.from("{"),
    });
    const firstRecord = placeAtOffset(0, createUnreadableRecord(a));
    await bus.deliver([firstRecord, placeAtOffset(1, createUnreadableRecord(a))]);
    // The broker lost its log, and another record is now at this offset.
    await database.admin.query(
      `UPDATE positions SET next_offset = 0, reset_count = 1, last_offset = NULL, last_record = NULL
       WHERE consumer = $1`,
      [group],
    );
    const log = { clusterId: "cluster", resetCount: 1 };
    bus.onSeek({ topic, partition: 0 }, { ...log, nextOffset: 0n });
    expect(await bus.deliver([{ ...placeAtOffset(0, createUnreadableRecord(b)), log }])).toEqual({
      handledCount: 1,
    });
    expect((await listDeadLettersOfGroup()).map(({ eventId, key }) => [eventId, key])).toEqual([
      [null, a],
      [null, a],
      [null, b],
    ]);
    // The same record is not dead-lettered a second time.
    await setPosition(0);
    await database.admin.query("UPDATE positions SET reset_count = 0 WHERE consumer = $1", [group]);
    bus.onSeek({ topic, partition: 0 }, { ...log, resetCount: 0, nextOffset: 0n });
    await bus.deliver([firstRecord]);
    expect(await listDeadLettersOfGroup()).toHaveLength(3);
  });

  test("is reset if the record before it is not the one that was applied", async () => {
    const { a } = createKeys();
    await startTestConsumer();
    const records = [0, 1].map((offset) => placeAtOffset(offset, createEventRecord(a, offset)));
    await bus.deliver(records);
    // A member that joins starts with the last applied record.
    const nextRecord = placeAtOffset(2, createEventRecord(a, 2));
    expect(await bus.deliver([...records.slice(1), nextRecord])).toEqual({ handledCount: 2 });
    const otherRecords = [
      placeAtOffset(2, createEventRecord(a, 3)),
      placeAtOffset(3, createEventRecord(a, 4)),
    ];
    expect(await bus.deliver(otherRecords)).toEqual({ handledCount: 0, rewindReason: "log_lost" });
    expect(await readEffectsOf(a)).toEqual([0, 1, 2].map((step) => `${a}:${step}`));
    expect(await readPositions()).toEqual(["cluster:3"]);
  });

  test("has no digest of the record before it after an older release moved it", async () => {
    const { a } = createKeys();
    await startTestConsumer();
    await bus.deliver([placeAtOffset(0, createEventRecord(a, 0))]);
    await setPosition(2);
    bus.onSeek({ topic, partition: 0 }, { clusterId: "cluster", resetCount: 0, nextOffset: 2n });
    expect(
      await bus.deliver([
        placeAtOffset(1, createEventRecord(a, 1)),
        placeAtOffset(2, createEventRecord(a, 2)),
      ]),
    ).toEqual({
      handledCount: 2,
    });
    expect(await readEffectsOf(a)).toEqual([`${a}:0`, `${a}:2`]);
  });

  test("is not stored for a bus that cannot be read again", async () => {
    await startTestConsumer();
    await bus.deliver([createEventRecord(createKeys().a, 1)]);
    expect(await readPositions()).toEqual([]);
  });
});

describe("records of several partitions that arrive together", () => {
  const placeInPartition = (partition: number, record: ReturnType<typeof createEventRecord>) => ({
    ...placeAtOffset(1, record),
    partition,
  });
  const readPartitionOffsets = async () => {
    const { rows } = await database.admin.query<{ partition: number; at: string }>(
      "SELECT partition, next_offset AS at FROM positions WHERE consumer = $1 ORDER BY partition",
      [group],
    );
    return rows.map(({ partition, at: offset }) => `${partition}:${offset}`);
  };

  test("are applied in one transaction, and one statement moves all their positions", async () => {
    const { a, b } = createKeys();
    await startTestConsumer();
    const topicPartitions = [0, 1, 2].map((partition) => ({ topic, partition }));
    for (const topicPartition of topicPartitions) {
      const startPosition = { clusterId: "cluster", resetCount: 0, nextOffset: 0n };
      await database.admin.query(
        `INSERT INTO positions (consumer, topic, partition, cluster_id, reset_count, next_offset)
         VALUES ($1, $2, $3, 'cluster', 0, 0)`,
        [group, topic, topicPartition.partition],
      );
      bus.onSeek(topicPartition, startPosition);
    }
    const recorder = recordStatements();
    const handling = await Promise.all([
      bus.deliver([placeInPartition(2, createEventRecord(a, 2))]),
      bus.deliver([placeInPartition(0, createEventRecord(b, 1))]),
      bus.deliver([placeInPartition(1, createEventRecord(a, 1))]),
    ]);
    expect(recorder.stop().filter((text) => !/INSERT|count\(/.test(text))).toEqual([
      "START TRANSACTION",
      expect.stringMatching(/^WITH moved AS/),
      "COMMIT",
    ]);
    expect(handling).toEqual([{ handledCount: 1 }, { handledCount: 1 }, { handledCount: 1 }]);
    expect(await readEffectsOf(a)).toEqual([`${a}:1`, `${a}:2`]);
    expect(await readEffectsOf(b)).toEqual([`${b}:1`]);
    expect(await readPartitionOffsets()).toEqual(["0:2", "1:2", "2:2"]);
  });

  test("dead-letter only the record that cannot be applied", async () => {
    const { a, b, bad } = createKeys();
    await startTestConsumer(async (tx, data, envelope) => {
      await writeStep(tx, data, envelope);
      if (envelope.key === bad) throw createApiError("NOT_FOUND");
    });
    const handling = await Promise.all([
      bus.deliver([placeInPartition(0, createEventRecord(a, 1))]),
      bus.deliver([placeInPartition(1, createEventRecord(bad, 1))]),
      bus.deliver([placeInPartition(2, createEventRecord(b, 1))]),
    ]);
    expect(handling).toEqual([{ handledCount: 1 }, { handledCount: 1 }, { handledCount: 1 }]);
    expect([await readEffectsOf(a), await readEffectsOf(b)]).toEqual([[`${a}:1`], [`${b}:1`]]);
    expect(await readEffectsOf(bad)).toEqual([]);
    expect(
      (await listDeadLettersOfGroup()).map(({ partition, offset }) => [partition, offset]),
    ).toEqual([[1, "1"]]);
    expect(await readPartitionOffsets()).toEqual(["0:2", "1:2", "2:2"]);
  });

  test("delay only the partition of a record that waits", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer(
      async (tx, data, envelope) => {
        if (envelope.key === bad) throw Object.assign(new Error("away"), { code: "ECONNREFUSED" });
        await writeStep(tx, data, envelope);
      },
      { clock: createFakeClock(new Date()) },
    );
    const stopController = new AbortController();
    const blockedHandling = bus.deliver(
      [placeInPartition(0, createEventRecord(bad, 1))],
      stopController.signal,
    );
    const handling = bus.deliver([placeInPartition(1, createEventRecord(a, 1))]);
    expect(await handling).toEqual({ handledCount: 1 });
    stopController.abort();
    expect(await blockedHandling).toEqual({ handledCount: 0 });
    expect(await readPartitionOffsets()).toEqual(["1:2"]);
  });

  test("rewind only the partition whose position lies before its records", async () => {
    const { a, b } = createKeys();
    await startTestConsumer();
    await Promise.all([
      bus.deliver([placeInPartition(0, createEventRecord(a, 1))]),
      bus.deliver([placeInPartition(1, createEventRecord(b, 1))]),
    ]);
    await database.admin.query(
      "UPDATE positions SET next_offset = 1 WHERE consumer = $1 AND partition = 1",
      [group],
    );
    const createNextRecord = (partition: number, record: ReturnType<typeof createEventRecord>) => ({
      ...placeAtOffset(2, record),
      partition,
    });
    const handling = await Promise.all([
      bus.deliver([createNextRecord(0, createEventRecord(a, 2))]),
      bus.deliver([createNextRecord(1, createEventRecord(b, 2))]),
    ]);
    expect(handling).toEqual([{ handledCount: 1 }, { handledCount: 0, rewindReason: "behind" }]);
    expect(await readPartitionOffsets()).toEqual(["0:3", "1:1"]);
  });
});

describe("replayDeadLetters (rule KEEP-6)", () => {
  const completeResult = { failures: [], isCutShort: false, nextAfterSeq: null };
  const rejectAll: ThingHandler = () => Promise.reject(createApiError("NOT_FOUND"));

  test("applies dead letters in order, once, and unblocks the key", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer((tx, data, envelope) =>
      envelope.key === bad ? rejectAll(tx, data, envelope) : writeStep(tx, data, envelope),
    );
    const records = [1, 2, 3].map((step) => createEventRecord(bad, step));
    await bus.deliver([...records, createEventRecord(a, 1)]);
    expect(await replayGroup()).toEqual({ replayedCount: 3, ...completeResult });
    expect(await replayGroup()).toEqual({ replayedCount: 0, ...completeResult });
    await startTestConsumer();
    await bus.deliver([...records, createEventRecord(bad, 4)]);
    expect(await readEffectsOf(bad)).toEqual([1, 2, 3, 4].map((step) => `${bad}:${step}`));
  });

  test("stops a key at its first failure and continues with the others", async () => {
    const { a, bad } = createKeys();
    await startTestConsumer(rejectAll);
    await bus.deliver(
      [1, 2, 3].flatMap((step) => [createEventRecord(bad, step), createEventRecord(a, step)]),
    );
    const { replayedCount, failures } = await replayGroup((tx, data, envelope) =>
      envelope.key === bad && data.step === 2
        ? rejectAll(tx, data, envelope)
        : writeStep(tx, data, envelope),
    );
    expect({ replayedCount, failures }).toMatchObject({
      replayedCount: 4,
      failures: [{ key: bad, topic, reason: "NOT_FOUND" }],
    });
    expect(await readEffectsOf(bad)).toEqual([`${bad}:1`]);
    expect(await readEffectsOf(a)).toEqual([1, 2, 3].map((step) => `${a}:${step}`));
    expect((await listDeadLettersOfGroup()).map(({ key }) => key)).toEqual([bad, bad]);
  });

  test("replays only the given key", async () => {
    const { a, b } = createKeys();
    await startTestConsumer(rejectAll);
    await bus.deliver([createEventRecord(a, 1), createEventRecord(b, 1)]);
    expect(await replayGroup(writeStep, { key: b })).toMatchObject({ replayedCount: 1 });
    expect((await listDeadLettersOfGroup()).map(({ key }) => key)).toEqual([a]);
  });

  test("reaches lanes behind a thousand failing ones, when started where the previous replay ended", async () => {
    const { a } = createKeys();
    await startTestConsumer(rejectAll);
    const failingRecords = Array.from({ length: 1_000 }, () =>
      createEventRecord(createUniqueName("hopeless"), 1),
    );
    await bus.deliver([...failingRecords, createEventRecord(a, 1)]);
    const writeOnlyA: ThingHandler = (tx, data, envelope) =>
      envelope.key === a ? writeStep(tx, data, envelope) : rejectAll(tx, data, envelope);
    const firstResult = await replayGroup(writeOnlyA);
    expect(firstResult).toMatchObject({ replayedCount: 0, isCutShort: true });
    const secondResult = await replayGroup(writeOnlyA, {
      afterSeq: firstResult.nextAfterSeq ?? "",
    });
    expect(secondResult).toEqual({ replayedCount: 1, ...completeResult });
    expect(await readEffectsOf(a)).toEqual([`${a}:1`]);
  });

  test("continues after a discarded record, which is stored with the reason", async () => {
    const { bad } = createKeys();
    await startTestConsumer(rejectAll);
    await bus.deliver([createEventRecord(bad, 1), createEventRecord(bad, 2)]);
    const [firstDeadLetter] = await listDeadLettersOfGroup();
    const discard = (seq = firstDeadLetter?.seq ?? "") =>
      discardDeadLetter(database.pool, { group, seq, reason: "a test", now: new Date() });
    expect([await discard(), await discard()]).toEqual([true, false]);
    expect(await replayGroup()).toEqual({ replayedCount: 1, ...completeResult });
    expect(await readEffectsOf(bad)).toEqual([`${bad}:2`]);
    const { rows } = await database.admin.query(
      "SELECT seq, key, discarded_because AS because FROM discarded_letters WHERE consumer = $1",
      [group],
    );
    expect(rows).toEqual([{ seq: firstDeadLetter?.seq, key: bad, because: "a test" }]);
  });

  test("applies a record once that was unreadable at first and was redelivered since", async () => {
    const { bad } = createKeys();
    const strictHandler = on(
      { ...createTestEventType(topic), data: z.object({ step: z.int().max(5) }) },
      () => Promise.resolve(),
    );
    const firstConsumer = await startTestConsumer(writeStep, { handlers: [strictHandler] });
    const record = createEventRecord(bad, 6);
    await bus.deliver([record]);
    await firstConsumer.stop();
    expect(await listDeadLettersOfGroup()).toHaveLength(1);
    await startTestConsumer();
    await bus.deliver([record]);
    await replayGroup();
    expect(await readEffectsOf(bad)).toEqual([`${bad}:6`]);
    expect(await listDeadLettersOfGroup()).toEqual([]);
  });

  test("applies a record that arrives during a replay of its key after the replay", async () => {
    const { a, bad } = createKeys();
    const firstConsumer = await startTestConsumer(rejectAll);
    await bus.deliver([createEventRecord(bad, 1), createEventRecord(bad, 2)]);
    await firstConsumer.stop();
    const [replayLatch, applyLatch] = [createLatch(), createLatch()];
    await startTestConsumer(async (tx, data, envelope) => {
      if (envelope.key === a) await applyLatch.waitForRelease();
      await writeStep(tx, data, envelope);
    });
    const replayPromise = replayGroup(async (tx, data, envelope) => {
      if (data.step === 2) await replayLatch.waitForRelease();
      await writeStep(tx, data, envelope);
    });
    await replayLatch.reached;
    const handling = bus.deliver([createEventRecord(a, 1), createEventRecord(bad, 3)]);
    // Continues the replay once the new record waits for the lock, or was checked without waiting.
    let hasChecked = false;
    void applyLatch.reached.then(() => (hasChecked = true));
    await waitUntil(
      "the new record is checked, or waits for a lock",
      async () => hasChecked || (await countLockWaits(database.pool)) === 1,
    );
    replayLatch.release();
    await replayPromise;
    applyLatch.release();
    await handling;
    expect(await readEffectsOf(bad)).toEqual([1, 2, 3].map((step) => `${bad}:${step}`));
    expect(await listDeadLettersOfGroup()).toEqual([]);
  });
});

/** A point where a handler waits until the test releases it. */
const createLatch = () => {
  const { promise: reached, resolve: signalReached } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const waitForRelease = (): Promise<void> => {
    signalReached();
    return released;
  };
  return { reached, release, waitForRelease };
};

/**
 * Records every statement that this process sends to Postgres, on any connection, until stopped.
 */
const recordStatements = (): { stop: () => string[] } => {
  const originalQuery: unknown = Reflect.get(Client.prototype, "query");
  const statements: string[] = [];
  Client.prototype.query = function recordQuery(
    this: Client,
    ...queryArguments: unknown[]
  ): unknown {
    const [firstArgument] = queryArguments;
    statements.push(
      (typeof firstArgument === "string"
        ? firstArgument
        : (firstArgument as { text: string }).text
      ).trim(),
    );
    return Reflect.apply(originalQuery as () => unknown, this, queryArguments);
  } as Client["query"];
  return {
    stop: () => {
      Client.prototype.query = originalQuery as Client["query"];
      return statements;
    },
  };
};
