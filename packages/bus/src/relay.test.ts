import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { type Metrics, createHeldClock, openMetrics, systemClock } from "@payment-links/runtime";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { startConsumer } from "./consumer.ts";
import { createLocalBus } from "./local-bus.ts";
import { outgoing, publish } from "./outbox.ts";
import { on } from "./reaction.ts";
import { type Relay, type RelayOptions, createRelay } from "./relay.ts";
import {
  type HandBus,
  createHandBus,
  eventually,
  fresh,
  labelOf,
  openTestSchema,
  quietLog,
  readEffects,
  testEvent,
  writeEffect,
} from "./testing/rig.ts";

const topic = "things.v1";
const event = testEvent(topic);

const database = useRig(openTestSchema);
let bus: HandBus;
const relays: Relay[] = [];

beforeEach(async () => {
  bus = createHandBus();
  await database.admin.query("TRUNCATE outbox; UPDATE relay_lead SET holder = NULL");
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});
const keep = closeAfterEach();

const start = (more: Partial<RelayOptions> = {}): Relay => {
  const relay = createRelay({
    databaseUrl: database.url,
    bus,
    service: "tester",
    metrics: openMetrics("test"),
    log: quietLog,
    ...more,
  });
  relays.push(relay);
  return relay;
};

const write = (key: string, ...steps: number[]) =>
  database.pool.transaction((tx) =>
    publish(
      tx,
      steps.map((step) => outgoing(event, { key, occurredAt: new Date(), data: { step } })),
    ),
  );

const labels = (sent = bus.sent) =>
  sent.flat().map(({ key, value }) => labelOf({ key, value: Buffer.from(value) }));

const unsentCount = async (): Promise<number> => {
  const { rows } = await database.admin.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM outbox",
  );
  return rows[0]?.count ?? -1;
};

const leaders = async (): Promise<number[]> => {
  const { rows } = await database.admin.query<{ pid: number }>(
    `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  return rows.map((row) => row.pid);
};

const relayPids = async (): Promise<number[]> => {
  const { rows } = await database.admin.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE application_name = 'tester relay' AND datname = current_database()`,
  );
  return rows.map((row) => row.pid);
};

const findHolder = async (): Promise<string | null | undefined> => {
  const { rows } = await database.admin.query<{ holder: string | null }>(
    "SELECT holder FROM relay_lead",
  );
  return rows[0]?.holder;
};

/** What a relay tells of the outbox. */
const unsentAt = async (metrics: Metrics): Promise<{ rows: number; ageSeconds: number }> => {
  const text = await metrics.metrics();
  const valueOf = (name: string) => Number(new RegExp(`${name}\\{.*} (.*)`).exec(text)?.[1]);
  return {
    rows: valueOf("outbox_unsent_rows"),
    ageSeconds: valueOf("outbox_oldest_unsent_age_seconds"),
  };
};

const isEmptied = () => eventually(unsentCount, (count) => count === 0);

describe("the relay", () => {
  test("sends events in order as CloudEvents, and deletes what is acknowledged (rules EVENT-4 and KEEP-4)", async () => {
    await write("a", 1, 2);
    await write("b", 1);
    start();
    await isEmptied();
    expect(labels()).toEqual(["a:1", "a:2", "b:1"]);
    expect(bus.sent[0]?.[0]).toEqual({
      topic,
      key: "a",
      headers: {
        ce_specversion: "1.0",
        ce_id: expect.stringMatching(/^evt_/),
        ce_source: "tester",
        ce_type: "thing.changed",
        ce_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        "content-type": "application/json",
      },
      value: '{"step":1}',
    });
  });

  test("sends a row with a lower number that is committed later (rule KEEP-4)", async () => {
    start();
    const late = new Client({ connectionString: database.url });
    await late.connect();
    await late.query("BEGIN");
    await late.query(
      `INSERT INTO outbox (id, topic, key, type, occurred_at, value)
       VALUES ('evt_late', $1, 'late', 'thing.changed', now(), '{"step":1}')`,
      [topic],
    );
    await write("early", 1);
    await eventually(labels, (sent) => sent.length === 1);
    await isEmptied();
    await late.query("COMMIT");
    await late.end();
    await eventually(labels, (sent) => sent.length === 2);
    expect(labels()).toEqual(["early:1", "late:1"]);
  });

  test("sends more than one claim holds, in order", async () => {
    const steps = Array.from({ length: 1_234 }, (_, step) => step);
    await write("a", ...steps);
    start();
    await isEmptied();
    expect(bus.sent.map((claim) => claim.length)).toEqual([500, 500, 234]);
    expect(labels()).toEqual(steps.map((step) => `a:${step}`));
  });

  test("is told at once what another process has committed", async () => {
    Object.assign(bus, { pollMs: 300_000 });
    start();
    await eventually(leaders, (pids) => pids.length === 1);
    const follower = start();
    await eventually(relayPids, (pids) => pids.length === 2);
    for (const step of [1, 2, 3]) {
      await write("a", step);
      follower.wake();
      await eventually(labels, (sent) => sent.length === step);
    }
    expect(labels()).toEqual(["a:1", "a:2", "a:3"]);
  });

  test("looks by itself where a process cannot tell what it has committed", async () => {
    start();
    const [leader] = await eventually(leaders, (pids) => pids.length === 1);
    const follower = start();
    const pids = await eventually(relayPids, (found) => found.length === 2);
    await database.admin.query("SELECT pg_terminate_backend($1)", [
      pids.find((pid) => pid !== leader),
    ]);
    await write("a", 1);
    follower.wake();
    await isEmptied();
    expect(labels()).toEqual(["a:1"]);
  });

  test("deletes nothing that was committed while it was sending (rule KEEP-4)", async () => {
    bus.onPublish = async () => {
      if (bus.sent.length < 3) await write("during", bus.sent.length);
    };
    await write("a", 1);
    start();
    await eventually(labels, (sent) => sent.length === 4);
    await isEmptied();
    expect(labels()).toEqual(["a:1", "during:0", "during:1", "during:2"]);
  });

  test("sends the whole claim again after a failure, until the bus has kept it", async () => {
    let failures = 0;
    const attempted: string[][] = [];
    bus.onPublish = async (records) => {
      attempted.push(labels([[...records]]));
      if (failures++ < 3) throw new Error("the bus is away");
    };
    await write("a", 1, 2);
    start();
    await eventually(
      () => failures,
      (count) => count === 1,
    );
    await write("a", 3);
    await isEmptied();
    expect(attempted[0]).toEqual(["a:1", "a:2"]);
    expect(labels()).toEqual(["a:1", "a:2", "a:3"]);
  });

  test("does not hurry a bus that fails, however often it is woken", async () => {
    const clock = createHeldClock(new Date());
    let attempts = 0;
    bus.onPublish = async () => {
      attempts += 1;
      throw new Error("the bus is away");
    };
    await write("a", 1);
    const relay = start({ clock });
    await eventually(
      () => attempts,
      (count) => count === 1,
    );
    for (let wakes = 0; wakes < 100; wakes += 1) {
      relay.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(attempts).toBe(1);
    await eventually(
      () => {
        clock.advance(100);
        return attempts;
      },
      (count) => count === 2,
    );
  });

  test("tries again as soon where the machine's clock is set back meanwhile", async () => {
    const clock = createHeldClock(new Date());
    let attempts = 0;
    bus.onPublish = async () => {
      attempts += 1;
      if (attempts === 1) throw new Error("the bus is away");
    };
    await write("a", 1);
    const relay = start({ clock });
    await eventually(
      () => attempts,
      (count) => count === 1,
    );
    clock.setBack(3_600_000);
    await eventually(
      () => {
        clock.advance(100);
        relay.wake();
        return attempts;
      },
      (count) => count === 2,
    );
  });

  test("sends at once when it is woken, without a poll", async () => {
    const relay = start({ clock: createHeldClock(new Date()) });
    await eventually(leaders, (pids) => pids.length === 1);
    await write("a", 1);
    relay.wake();
    await eventually(labels, (sent) => sent.length > 0);
    expect(labels()).toEqual(["a:1"]);
  });

  test("deletes a few that were acknowledged with its next look, or when it stops", async () => {
    const relay = start({ clock: createHeldClock(new Date()) });
    await eventually(leaders, (pids) => pids.length === 1);
    await write("a", 1, 2);
    relay.wake();
    await eventually(labels, (sent) => sent.length > 0);
    relay.wake();
    await isEmptied();
    await write("a", 3);
    await relay.stop();
    expect(await unsentCount()).toBe(0);
    expect(labels()).toEqual(["a:1", "a:2", "a:3"]);
  });

  test("sends each event once where several relays run (rule KEEP-4)", async () => {
    const buses = [createHandBus(), createHandBus(), createHandBus()];
    const all = buses.map((each) => start({ bus: each }));
    const steps = Array.from({ length: 40 }, (_, step) => step);
    for (const step of steps) {
      await write("a", step);
      for (const relay of all) relay.wake();
    }
    await isEmptied();
    expect(buses.map((each) => labels(each.sent)).filter((sent) => sent.length > 0)).toEqual([
      steps.map((step) => `a:${step}`),
    ]);
  });

  test("loses nothing when the leader's connection is cut, again and again", async () => {
    const buses = [createHandBus(), createHandBus(), createHandBus()];
    for (const each of buses) start({ bus: each });
    const all = () => buses.flatMap((each) => labels(each.sent));
    for (let step = 0; step < 6; step += 1) {
      const [pid, ...others] = await eventually(leaders, (pids) => pids.length === 1);
      expect(others).toEqual([]);
      await write("a", 2 * step);
      await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
      await write("a", 2 * step + 1);
      await isEmptied();
    }
    const steps = Array.from({ length: 12 }, (_, step) => `a:${step}`);
    expect(new Set(all())).toEqual(new Set(steps));
  });

  test("loses no event to which a standby that lagged gives the number of one that was sent", async () => {
    const clock = createHeldClock(new Date());
    const relay = start({ clock });
    await eventually(findHolder, (holder) => holder !== null);
    // A fail-over to a standby that has not heard of that commit: its number is free again. The relay's
    // first turn, if it is still under way, may have deleted the row by itself.
    let freed: string | undefined;
    let steps = 0;
    while (freed === undefined && steps < 5) {
      steps += 1;
      await write("a", steps);
      relay.wake();
      await eventually(labels, (sent) => sent.length === steps);
      const { rows } = await database.admin.query<{ seq: string }>(
        "DELETE FROM outbox RETURNING seq",
      );
      freed = rows[0]?.seq;
    }
    await database.admin.query(`ALTER TABLE outbox ALTER COLUMN seq RESTART WITH ${freed}`);
    await write("b", 1, 2);
    for (const pid of await relayPids()) {
      await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
    }
    await eventually(
      () => {
        clock.advance(1_000);
        relay.wake();
        return unsentCount();
      },
      (count) => count === 0,
    );
    expect(labels().slice(steps)).toEqual(["b:1", "b:2"]);
  });

  test("that follows one which was killed first lets the dead one's send run out", async () => {
    const clock = createHeldClock(new Date());
    bus = createHandBus(10_000);
    await database.admin.query("UPDATE relay_lead SET holder = 'killed'");
    await write("a", 1);
    start({ clock });
    await eventually(leaders, (pids) => pids.length === 1);
    clock.advance(10_000);
    await write("a", 2);
    expect(bus.sent).toEqual([]);
    await eventually(
      () => {
        clock.advance(500);
        return labels();
      },
      (sent) => sent.length === 2,
    );
  });

  test.each(["UPDATE relay_lead", "SET synchronous_commit", "LISTEN"])(
    "lets a dead one's send run out also where its own take-over breaks off at %s",
    async (statement) => {
      const clock = createHeldClock(new Date());
      bus = createHandBus(10_000);
      await database.admin.query("UPDATE relay_lead SET holder = 'killed'");
      await write("a", 1);
      const url = new URL(database.url);
      const proxy = await openTcpProxy(url);
      keep({ close: () => proxy.kill() });
      proxy.loseAnswerTo(statement);
      url.port = String(proxy.port);
      start({ clock, databaseUrl: url.href });
      await eventually(findHolder, (holder) => holder !== "killed");
      await eventually(relayPids, (pids) => pids.length === 0);
      await eventually(
        async () => {
          const pids = await leaders();
          if (pids.length === 0) clock.advance(100);
          return pids;
        },
        (pids) => pids.length === 1,
      );
      const ledAtMs = clock.elapsedMs();
      await eventually(
        () => {
          clock.advance(500);
          return labels();
        },
        (sent) => sent.length === 1,
      );
      expect(clock.elapsedMs() - ledAtMs).toBeGreaterThan(10_000);
    },
  );

  test("that follows one which was stopped sends at once", async () => {
    bus = createHandBus(10_000);
    const clock = createHeldClock(new Date());
    const first = start({ clock });
    await eventually(leaders, (pids) => pids.length === 1);
    await write("a", 1);
    await first.stop();
    expect(labels()).toEqual(["a:1"]);
    await write("a", 2);
    start({ clock });
    await eventually(labels, (sent) => sent.length > 1);
    expect(labels()).toEqual(["a:1", "a:2"]);
  });

  test("that loses its connection and leads again does not wait for itself", async () => {
    // Far longer than it may take on a busy machine.
    bus = createHandBus(120_000);
    await write("a", 1);
    start();
    // Only a take-over that is complete is known to have followed nobody's send.
    await isEmptied();
    const [pid] = await leaders();
    await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
    await write("a", 2);
    await eventually(labels, (sent) => sent.length === 2);
  });

  test("stops although the bus hangs, and leaves what it could not send", async () => {
    bus.onPublish = () => new Promise(() => {});
    await write("a", 1);
    const relay = start();
    await eventually(leaders, (pids) => pids.length === 1);
    await relay.stop();
    expect(await unsentCount()).toBe(1);
    const { rows } = await database.admin.query("SELECT holder FROM relay_lead");
    expect(rows).toEqual([{ holder: expect.any(String) }]);
  });

  test("that stops just after a failed send does not hand over: the next must let that one run out", async () => {
    const clock = createHeldClock(new Date());
    const attempt = Promise.withResolvers<void>();
    bus.onPublish = async () => {
      attempt.resolve();
      throw new Error("the bus is away");
    };
    await write("a", 1);
    const relay = start({ clock });
    await attempt.promise;
    await relay.stop();
    const { rows } = await database.admin.query("SELECT holder FROM relay_lead");
    expect(rows).toEqual([{ holder: expect.any(String) }]);
  });

  test("killed between sending and deleting sends again, which changes nothing (rule KEEP-8)", async () => {
    const group = fresh("group");
    await write("a", 1, 2);
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL("testing/killed-relay.ts", import.meta.url)),
        database.url,
        topic,
        group,
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    const [, signal] = (await once(child, "exit")) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");
    expect(await readEffects(database.pool, "a")).toEqual(["a:1", "a:2"]);
    expect(await unsentCount()).toBe(2);

    const local = createLocalBus({ groups: [group] });
    const metrics = openMetrics("test");
    const consumer = await startConsumer({
      bus: local,
      pool: database.pool,
      group,
      metrics,
      log: quietLog,
      clock: systemClock,
      reactions: [on(event, (tx, { step }, { key }) => writeEffect(tx, { key, step }))],
    });
    start({ bus: local });
    await isEmptied();
    await consumer.stop();
    expect(await readEffects(database.pool, "a")).toEqual(["a:1", "a:2"]);
  });

  test("says each minute that all is sent, and only then (rule EVENT-2)", async () => {
    const clock = createHeldClock(new Date("2026-11-22T10:00:00.000Z"));
    bus.onPublish = () => Promise.reject(new Error("the bus is away"));
    await write("a", 1);
    start({ clock, markedTopics: [topic] });
    let tries = 0;
    bus.onPublish = (records) => {
      tries += 1;
      expect(records.map(({ headers }) => headers["ce_type"])).not.toContain("outbox.mark");
      return Promise.reject(new Error("the bus is away"));
    };
    await eventually(
      () => {
        clock.advance(30_000);
        return tries;
      },
      (count) => count > 3,
    );
    bus.onPublish = async () => {};
    const marks = () =>
      bus.sent.flat().filter(({ headers }) => headers["ce_type"] === "outbox.mark");
    await eventually(
      () => {
        clock.advance(5_000);
        return bus.sent.length;
      },
      (count) => count > 1,
    );
    expect(bus.sent[0]?.map(({ key }) => key)).toEqual(["a"]);
    const [first] = marks();
    expect(first).toMatchObject({ topic, toEveryPartition: true });
    // A few sent events are deleted by the next look, which waits for the held clock.
    await eventually(
      () => {
        clock.advance(5_000);
        return unsentCount();
      },
      (count) => count === 0,
    );
    const before = marks().length;
    clock.advance(60_000);
    await eventually(
      () => marks().length,
      (count) => count > before,
    );
  });

  test("that stands by forgets at its next look what the leader has sent", async () => {
    const clock = createHeldClock(new Date());
    Object.assign(bus, { pollMs: 1_000 });
    await write("a", 1);
    start({ clock });
    await eventually(labels, (sent) => sent.length === 1);
    clock.advance(900);
    const metrics = openMetrics("test");
    start({ clock, metrics });
    await eventually(
      () => unsentAt(metrics),
      ({ rows }) => rows === 1,
    );
    clock.advance(100);
    await isEmptied();
    for (let passedMs = 0; passedMs < 4_500; passedMs += 500) clock.advance(500);
    await eventually(
      () => unsentAt(metrics),
      ({ rows, ageSeconds }) => rows === 0 && ageSeconds === 0,
    );
  });

  test("tells how much waits also where the machine's clock is set back meanwhile", async () => {
    const clock = createHeldClock(new Date());
    bus.onPublish = () => Promise.reject(new Error("the bus is away"));
    await write("a", 1);
    start({ clock });
    await eventually(leaders, (pids) => pids.length === 1);
    const metrics = openMetrics("test");
    start({ clock, metrics });
    const tells = (wanted: number) =>
      eventually(
        () => {
          clock.advance(500);
          return unsentAt(metrics);
        },
        ({ rows }) => rows === wanted,
      );
    await tells(1);
    clock.setBack(24 * 3_600_000);
    await write("a", 2, 3);
    await tells(3);
  });

  test("tells how much waits and for how long, leading or not", async () => {
    const clock = createHeldClock(new Date());
    const [leading, standing] = [openMetrics("test"), openMetrics("test")];
    bus.onPublish = () => Promise.reject(new Error("the bus is away"));
    await write("a", 1, 2, 3);
    const leader = start({ clock, metrics: leading });
    const [leaderPid] = await eventually(leaders, (pids) => pids.length === 1);
    const standby = start({ clock, metrics: standing });
    clock.advance(60_000);
    for (const metrics of [leading, standing]) {
      await eventually(
        () => {
          clock.advance(10);
          return metrics.metrics();
        },
        (text) =>
          /outbox_unsent_rows\{.*} 3/.test(text) &&
          /oldest_unsent_age_seconds\{.*} (?:59|6\d)/.test(text),
      );
    }
    bus.onPublish = async () => {};
    await eventually(
      () => {
        clock.advance(1_000);
        return unsentCount();
      },
      (count) => count === 0,
    );
    await eventually(
      () => leading.metrics(),
      (text) =>
        /unsent_rows\{.*} 0/.test(text) &&
        /unsent_age_seconds\{.*} 0/.test(text) &&
        /sent_total\{.*} 3/.test(text),
    );
    expect(await leaders()).toEqual([leaderPid]);
    await Promise.all([leader.stop(), standby.stop()]);
  });
});
