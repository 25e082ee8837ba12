import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { type Metrics, createFakeClock, createMetrics, systemClock } from "@payment-links/runtime";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { startConsumer } from "./consumer.ts";
import { createLocalBus } from "./local-bus.ts";
import { createOutgoingEvent, publish } from "./outbox.ts";
import { on } from "./event-handlers.ts";
import { type Relay, type RelayOptions, createRelay } from "./relay.ts";
import {
  type ManualBus,
  createManualBus,
  eventually,
  createUniqueName,
  formatLabel,
  createTestSchema,
  silentLog,
  readEffects,
  createTestEventType,
  writeEffect,
} from "./testing/rig.ts";

const topic = "things.v1";
const event = createTestEventType(topic);

const database = useRig(createTestSchema);
let bus: ManualBus;
const relays: Relay[] = [];

beforeEach(async () => {
  bus = createManualBus();
  await database.admin.query("TRUNCATE outbox; UPDATE relay_lead SET holder = NULL");
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});
const closeAfterTest = closeAfterEach();

const startTestRelay = (overrides: Partial<RelayOptions> = {}): Relay => {
  const relay = createRelay({
    databaseUrl: database.url,
    bus,
    service: "tester",
    metrics: createMetrics("test"),
    log: silentLog,
    ...overrides,
  });
  relays.push(relay);
  return relay;
};

const publishSteps = (key: string, ...steps: number[]) =>
  database.pool.transaction((tx) =>
    publish(
      tx,
      steps.map((step) =>
        createOutgoingEvent(event, { key, occurredAt: new Date(), data: { step } }),
      ),
    ),
  );

const getSentLabels = (batches = bus.sentBatches) =>
  batches.flat().map(({ key, value }) => formatLabel({ key, value: Buffer.from(value) }));

const countUnsent = async (): Promise<number> => {
  const { rows } = await database.admin.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM outbox",
  );
  return rows[0]?.count ?? -1;
};

const findLeaderPids = async (): Promise<number[]> => {
  const { rows } = await database.admin.query<{ pid: number }>(
    `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  return rows.map((row) => row.pid);
};

const findRelayPids = async (): Promise<number[]> => {
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

/** Returns what a relay's metrics report about the outbox. */
const readUnsentMetrics = async (
  metrics: Metrics,
): Promise<{ rows: number; ageSeconds: number }> => {
  const text = await metrics.metrics();
  const readMetric = (name: string) => Number(new RegExp(`${name}\\{.*} (.*)`).exec(text)?.[1]);
  return {
    rows: readMetric("outbox_unsent_rows"),
    ageSeconds: readMetric("outbox_oldest_unsent_age_seconds"),
  };
};

const waitUntilEmpty = () => eventually(countUnsent, (count) => count === 0);

describe("the relay", () => {
  test("sends events in order as CloudEvents, and deletes acknowledged ones (rules EVENT-4 and KEEP-4)", async () => {
    await publishSteps("a", 1, 2);
    await publishSteps("b", 1);
    startTestRelay();
    await waitUntilEmpty();
    expect(getSentLabels()).toEqual(["a:1", "a:2", "b:1"]);
    expect(bus.sentBatches[0]?.[0]).toEqual({
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

  test("sends a row with a lower number that commits later (rule KEEP-4)", async () => {
    startTestRelay();
    const lateClient = new Client({ connectionString: database.url });
    await lateClient.connect();
    await lateClient.query("BEGIN");
    await lateClient.query(
      `INSERT INTO outbox (id, topic, key, type, occurred_at, value)
       VALUES ('evt_late', $1, 'late', 'thing.changed', now(), '{"step":1}')`,
      [topic],
    );
    await publishSteps("early", 1);
    await eventually(getSentLabels, (labels) => labels.length === 1);
    await waitUntilEmpty();
    await lateClient.query("COMMIT");
    await lateClient.end();
    await eventually(getSentLabels, (labels) => labels.length === 2);
    expect(getSentLabels()).toEqual(["early:1", "late:1"]);
  });

  test("sends more than one batch, in order", async () => {
    const steps = Array.from({ length: 1_234 }, (_, step) => step);
    await publishSteps("a", ...steps);
    startTestRelay();
    await waitUntilEmpty();
    expect(bus.sentBatches.map((batch) => batch.length)).toEqual([500, 500, 234]);
    expect(getSentLabels()).toEqual(steps.map((step) => `a:${step}`));
  });

  test("is notified immediately of another process's commits", async () => {
    Object.assign(bus, { pollMs: 300_000 });
    startTestRelay();
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    const follower = startTestRelay();
    await eventually(findRelayPids, (pids) => pids.length === 2);
    for (const step of [1, 2, 3]) {
      await publishSteps("a", step);
      follower.wake();
      await eventually(getSentLabels, (labels) => labels.length === step);
    }
    expect(getSentLabels()).toEqual(["a:1", "a:2", "a:3"]);
  });

  test("finds events by polling when a process cannot notify it", async () => {
    startTestRelay();
    const [leader] = await eventually(findLeaderPids, (pids) => pids.length === 1);
    const follower = startTestRelay();
    const pids = await eventually(findRelayPids, (pids) => pids.length === 2);
    await database.admin.query("SELECT pg_terminate_backend($1)", [
      pids.find((pid) => pid !== leader),
    ]);
    await publishSteps("a", 1);
    follower.wake();
    await waitUntilEmpty();
    expect(getSentLabels()).toEqual(["a:1"]);
  });

  test("does not delete events committed during a send (rule KEEP-4)", async () => {
    bus.onPublish = async () => {
      if (bus.sentBatches.length < 3) await publishSteps("during", bus.sentBatches.length);
    };
    await publishSteps("a", 1);
    startTestRelay();
    await eventually(getSentLabels, (labels) => labels.length === 4);
    await waitUntilEmpty();
    expect(getSentLabels()).toEqual(["a:1", "during:0", "during:1", "during:2"]);
  });

  test("retries the whole batch after a failure until the bus has stored it", async () => {
    let failureCount = 0;
    const attemptedLabels: string[][] = [];
    bus.onPublish = async (records) => {
      attemptedLabels.push(getSentLabels([[...records]]));
      if (failureCount++ < 3) throw new Error("the bus is unavailable");
    };
    await publishSteps("a", 1, 2);
    startTestRelay();
    await eventually(() => failureCount, 1);
    await publishSteps("a", 3);
    await waitUntilEmpty();
    expect(attemptedLabels[0]).toEqual(["a:1", "a:2"]);
    expect(getSentLabels()).toEqual(["a:1", "a:2", "a:3"]);
  });

  test("respects its backoff while the bus fails, however often it is woken", async () => {
    const clock = createFakeClock(new Date());
    let attemptCount = 0;
    bus.onPublish = async () => {
      attemptCount += 1;
      throw new Error("the bus is unavailable");
    };
    await publishSteps("a", 1);
    const relay = startTestRelay({ clock });
    await eventually(() => attemptCount, 1);
    for (let wakeCount = 0; wakeCount < 100; wakeCount += 1) {
      relay.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(attemptCount).toBe(1);
    await eventually(() => {
      clock.advance(100);
      return attemptCount;
    }, 2);
  });

  test("retries just as soon after the system clock is set back", async () => {
    const clock = createFakeClock(new Date());
    let attemptCount = 0;
    bus.onPublish = async () => {
      attemptCount += 1;
      if (attemptCount === 1) throw new Error("the bus is unavailable");
    };
    await publishSteps("a", 1);
    const relay = startTestRelay({ clock });
    await eventually(() => attemptCount, 1);
    clock.setBack(3_600_000);
    await eventually(() => {
      clock.advance(100);
      relay.wake();
      return attemptCount;
    }, 2);
  });

  test("sends immediately when woken, without a poll", async () => {
    const relay = startTestRelay({ clock: createFakeClock(new Date()) });
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    await publishSteps("a", 1);
    relay.wake();
    await eventually(getSentLabels, (labels) => labels.length > 0);
    expect(getSentLabels()).toEqual(["a:1"]);
  });

  test("deletes a small acknowledged batch on its next read, or when it stops", async () => {
    const relay = startTestRelay({ clock: createFakeClock(new Date()) });
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    await publishSteps("a", 1, 2);
    relay.wake();
    await eventually(getSentLabels, (labels) => labels.length > 0);
    relay.wake();
    await waitUntilEmpty();
    await publishSteps("a", 3);
    await relay.stop();
    expect(await countUnsent()).toBe(0);
    expect(getSentLabels()).toEqual(["a:1", "a:2", "a:3"]);
  });

  test("sends each event once when several relays run (rule KEEP-4)", async () => {
    const buses = [createManualBus(), createManualBus(), createManualBus()];
    const startedRelays = buses.map((relayBus) => startTestRelay({ bus: relayBus }));
    const steps = Array.from({ length: 40 }, (_, step) => step);
    for (const step of steps) {
      await publishSteps("a", step);
      for (const relay of startedRelays) relay.wake();
    }
    await waitUntilEmpty();
    expect(
      buses
        .map((relayBus) => getSentLabels(relayBus.sentBatches))
        .filter((labels) => labels.length > 0),
    ).toEqual([steps.map((step) => `a:${step}`)]);
  });

  test("does not lose events when the leader's connection is repeatedly cut", async () => {
    const buses = [createManualBus(), createManualBus(), createManualBus()];
    for (const relayBus of buses) startTestRelay({ bus: relayBus });
    const getAllLabels = () => buses.flatMap((relayBus) => getSentLabels(relayBus.sentBatches));
    for (let step = 0; step < 6; step += 1) {
      const [pid, ...otherPids] = await eventually(findLeaderPids, (pids) => pids.length === 1);
      expect(otherPids).toEqual([]);
      await publishSteps("a", 2 * step);
      await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
      await publishSteps("a", 2 * step + 1);
      await waitUntilEmpty();
    }
    const expectedLabels = Array.from({ length: 12 }, (_, step) => `a:${step}`);
    expect(new Set(getAllLabels())).toEqual(new Set(expectedLabels));
  });

  test("does not lose an event when a lagging standby reuses the number of a sent one", async () => {
    const clock = createFakeClock(new Date());
    const relay = startTestRelay({ clock });
    await eventually(findHolder, (holder) => holder !== null);
    // A failover to a standby without that commit makes its number available again. The relay's
    // first iteration may still be running and delete the row itself.
    let freedSeq: string | undefined;
    let steps = 0;
    while (freedSeq === undefined && steps < 5) {
      steps += 1;
      await publishSteps("a", steps);
      relay.wake();
      await eventually(getSentLabels, (labels) => labels.length === steps);
      const { rows } = await database.admin.query<{ seq: string }>(
        "DELETE FROM outbox RETURNING seq",
      );
      freedSeq = rows[0]?.seq;
    }
    // A failover breaks the relay's connection before a number can be reused. Otherwise, an iteration
    // that is still running could delete the new row with that number.
    const terminateConnections = async (): Promise<number> => {
      const pids = await findRelayPids();
      for (const pid of pids) await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
      return pids.length;
    };
    await eventually(terminateConnections, 0);
    await database.admin.query(`ALTER TABLE outbox ALTER COLUMN seq RESTART WITH ${freedSeq}`);
    await publishSteps("b", 1, 2);
    await eventually(() => {
      clock.advance(1_000);
      relay.wake();
      return countUnsent();
    }, 0);
    expect(getSentLabels().slice(steps)).toEqual(["b:1", "b:2"]);
  });

  test("waits for the in-flight send of a killed leader before it sends", async () => {
    const clock = createFakeClock(new Date());
    bus = createManualBus(10_000);
    await database.admin.query("UPDATE relay_lead SET holder = 'killed'");
    await publishSteps("a", 1);
    startTestRelay({ clock });
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    clock.advance(10_000);
    await publishSteps("a", 2);
    expect(bus.sentBatches).toEqual([]);
    await eventually(
      () => {
        clock.advance(500);
        return getSentLabels();
      },
      (labels) => labels.length === 2,
    );
  });

  test.each(["UPDATE relay_lead", "SET synchronous_commit", "LISTEN"])(
    "still waits for a dead leader's send when its own takeover fails at %s",
    async (statement) => {
      const clock = createFakeClock(new Date());
      bus = createManualBus(10_000);
      await database.admin.query("UPDATE relay_lead SET holder = 'killed'");
      await publishSteps("a", 1);
      const url = new URL(database.url);
      const proxy = await startTcpProxy(url);
      closeAfterTest({ close: () => proxy.kill() });
      proxy.dropResponseTo(statement);
      url.port = String(proxy.port);
      startTestRelay({ clock, databaseUrl: url.href });
      await eventually(findHolder, (holder) => holder !== "killed");
      await eventually(findRelayPids, (pids) => pids.length === 0);
      await eventually(
        async () => {
          const pids = await findLeaderPids();
          if (pids.length === 0) clock.advance(100);
          return pids;
        },
        (pids) => pids.length === 1,
      );
      const leadershipAcquiredAtMs = clock.elapsedMs();
      await eventually(
        () => {
          clock.advance(500);
          return getSentLabels();
        },
        (labels) => labels.length === 1,
      );
      expect(clock.elapsedMs() - leadershipAcquiredAtMs).toBeGreaterThan(10_000);
    },
  );

  test("sends immediately after a leader that stopped cleanly", async () => {
    bus = createManualBus(10_000);
    const clock = createFakeClock(new Date());
    const firstRelay = startTestRelay({ clock });
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    await publishSteps("a", 1);
    await firstRelay.stop();
    expect(getSentLabels()).toEqual(["a:1"]);
    await publishSteps("a", 2);
    startTestRelay({ clock });
    await eventually(getSentLabels, (labels) => labels.length > 1);
    expect(getSentLabels()).toEqual(["a:1", "a:2"]);
  });

  test("does not wait for its own send when it loses its connection and leads again", async () => {
    // This is far longer than the test takes on a busy machine.
    bus = createManualBus(120_000);
    await publishSteps("a", 1);
    startTestRelay();
    // Only a complete first takeover shows that no other relay can have a send in flight.
    await waitUntilEmpty();
    const [pid] = await findLeaderPids();
    await database.admin.query("SELECT pg_terminate_backend($1)", [pid]);
    await publishSteps("a", 2);
    await eventually(getSentLabels, (labels) => labels.length === 2);
  });

  test("stops although the bus hangs, and leaves unsent events in the outbox", async () => {
    bus.onPublish = () => new Promise(() => {});
    await publishSteps("a", 1);
    const relay = startTestRelay();
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    await relay.stop();
    expect(await countUnsent()).toBe(1);
    const { rows } = await database.admin.query("SELECT holder FROM relay_lead");
    expect(rows).toEqual([{ holder: expect.any(String) }]);
  });

  test("does not resign cleanly right after a failed send, so the next leader waits for that send", async () => {
    const clock = createFakeClock(new Date());
    const publishAttempt = Promise.withResolvers<void>();
    bus.onPublish = async () => {
      publishAttempt.resolve();
      throw new Error("the bus is unavailable");
    };
    await publishSteps("a", 1);
    const relay = startTestRelay({ clock });
    await publishAttempt.promise;
    await relay.stop();
    const { rows } = await database.admin.query("SELECT holder FROM relay_lead");
    expect(rows).toEqual([{ holder: expect.any(String) }]);
  });

  test("sends again after it is killed between send and delete, without effect (rule KEEP-8)", async () => {
    const group = createUniqueName("group");
    await publishSteps("a", 1, 2);
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
    expect(await countUnsent()).toBe(2);

    const localBus = createLocalBus({ groups: [group] });
    const metrics = createMetrics("test");
    const consumer = await startConsumer({
      bus: localBus,
      pool: database.pool,
      group,
      metrics,
      log: silentLog,
      clock: systemClock,
      handlers: [on(event, (tx, { step }, { key }) => writeEffect(tx, { key, step }))],
    });
    startTestRelay({ bus: localBus });
    await waitUntilEmpty();
    await consumer.stop();
    expect(await readEffects(database.pool, "a")).toEqual(["a:1", "a:2"]);
  });

  test("sends a watermark each minute, but only when everything is sent (rule EVENT-2)", async () => {
    const clock = createFakeClock(new Date("2026-11-22T10:00:00.000Z"));
    bus.onPublish = () => Promise.reject(new Error("the bus is unavailable"));
    await publishSteps("a", 1);
    startTestRelay({ clock, watermarkTopics: [topic] });
    let attemptCount = 0;
    bus.onPublish = (records) => {
      attemptCount += 1;
      expect(records.map(({ headers }) => headers["ce_type"])).not.toContain("outbox.mark");
      return Promise.reject(new Error("the bus is unavailable"));
    };
    await eventually(
      () => {
        clock.advance(30_000);
        return attemptCount;
      },
      (count) => count > 3,
    );
    bus.onPublish = async () => {};
    const getWatermarks = () =>
      bus.sentBatches.flat().filter(({ headers }) => headers["ce_type"] === "outbox.mark");
    await eventually(
      () => {
        clock.advance(5_000);
        return bus.sentBatches.length;
      },
      (count) => count > 1,
    );
    expect(bus.sentBatches[0]?.map(({ key }) => key)).toEqual(["a"]);
    const [firstWatermark] = getWatermarks();
    expect(firstWatermark).toMatchObject({ topic, sendToEveryPartition: true });
    // A small batch that was sent is deleted by the next read, which waits for the fake clock.
    await eventually(() => {
      clock.advance(5_000);
      return countUnsent();
    }, 0);
    const watermarkCountBefore = getWatermarks().length;
    clock.advance(60_000);
    await eventually(
      () => getWatermarks().length,
      (count) => count > watermarkCountBefore,
    );
  });

  test("drops events that the leader has sent from a standby's metrics at its next attempt", async () => {
    const clock = createFakeClock(new Date());
    Object.assign(bus, { pollMs: 1_000 });
    await publishSteps("a", 1);
    startTestRelay({ clock });
    await eventually(getSentLabels, (labels) => labels.length === 1);
    clock.advance(900);
    const metrics = createMetrics("test");
    startTestRelay({ clock, metrics });
    await eventually(
      () => readUnsentMetrics(metrics),
      ({ rows }) => rows === 1,
    );
    clock.advance(100);
    await waitUntilEmpty();
    for (let passedMs = 0; passedMs < 4_500; passedMs += 500) clock.advance(500);
    await eventually(
      () => readUnsentMetrics(metrics),
      ({ rows, ageSeconds }) => rows === 0 && ageSeconds === 0,
    );
  });

  test("reports the unsent count also after the system clock is set back", async () => {
    const clock = createFakeClock(new Date());
    bus.onPublish = () => Promise.reject(new Error("the bus is unavailable"));
    await publishSteps("a", 1);
    startTestRelay({ clock });
    await eventually(findLeaderPids, (pids) => pids.length === 1);
    const metrics = createMetrics("test");
    startTestRelay({ clock, metrics });
    const waitForUnsentRows = (expectedRows: number) =>
      eventually(
        () => {
          clock.advance(500);
          return readUnsentMetrics(metrics);
        },
        ({ rows }) => rows === expectedRows,
      );
    await waitForUnsentRows(1);
    clock.setBack(24 * 3_600_000);
    await publishSteps("a", 2, 3);
    await waitForUnsentRows(3);
  });

  test("reports the unsent count and age, as leader and as standby", async () => {
    const clock = createFakeClock(new Date());
    const [leaderMetrics, standbyMetrics] = [createMetrics("test"), createMetrics("test")];
    bus.onPublish = () => Promise.reject(new Error("the bus is unavailable"));
    await publishSteps("a", 1, 2, 3);
    const leader = startTestRelay({ clock, metrics: leaderMetrics });
    const [leaderPid] = await eventually(findLeaderPids, (pids) => pids.length === 1);
    const standby = startTestRelay({ clock, metrics: standbyMetrics });
    clock.advance(60_000);
    for (const metrics of [leaderMetrics, standbyMetrics]) {
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
    await eventually(() => {
      clock.advance(1_000);
      return countUnsent();
    }, 0);
    await eventually(
      () => leaderMetrics.metrics(),
      (text) =>
        /unsent_rows\{.*} 0/.test(text) &&
        /unsent_age_seconds\{.*} 0/.test(text) &&
        /sent_total\{.*} 3/.test(text),
    );
    expect(await findLeaderPids()).toEqual([leaderPid]);
    await Promise.all([leader.stop(), standby.stop()]);
  });
});
