import { request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createFakeClock, createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type EventStream,
  openEventStream,
} from "@payment-links/runtime/testing/open-event-stream";
import { createEventStreams } from "./event-streams.ts";
import { parsePathParameter } from "./parse-request.ts";
import { publicRoute } from "./route.ts";
import { startApp } from "./testing/start-app.ts";

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

/** Creates streams of resources whose state the test sets, behind a real server. */
const createStreamsRig = async (limits = { total: 10, perAddress: 5 }) => {
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = createMetrics("test");
  const streams = createEventStreams({ clock, metrics, limits });
  const states = new Map<string, { fingerprint: string; text: string }>();
  const receivedKeys: string[] = [];
  const snapshotReads: string[] = [];
  const stateRefs: WeakRef<object>[] = [];
  let disconnectCount = 0;
  let snapshotGate = Promise.resolve();
  let requestGate = Promise.resolve();
  const app = await startApp({
    trustedProxies: ["127.0.0.1/32"],
    routes: [
      publicRoute({
        method: "get",
        path: "/things/:id",
        isEndless: true,
        handle: async (req, res) => {
          const key = parsePathParameter(req, "id");
          receivedKeys.push(key);
          res.once("close", () => (disconnectCount += 1));
          await requestGate;
          const readSnapshot = async () => {
            snapshotReads.push(key);
            const { fingerprint, text } = states.get(key) ?? {
              fingerprint: "none",
              text: "nothing",
            };
            await snapshotGate;
            const state = { text };
            stateRefs.push(new WeakRef(state));
            return { fingerprint, state };
          };
          return streams.startStream(req, res, { key, readSnapshot });
        },
      }),
    ],
  });
  cleanups.push(() => app.close());
  cleanups.push(() => streams.drain());
  const openStream = async (key: string, headers: Record<string, string> = {}, method = "GET") => {
    const stream = await openEventStream(`http://127.0.0.1:${app.port}/things/${key}`, {
      headers,
      method,
    });
    cleanups.push(stream.close);
    return stream;
  };
  const { heartbeatIntervalMs } = streams;
  const advanceHeartbeats = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += heartbeatIntervalMs) {
      clock.advance(heartbeatIntervalMs);
      streams.sendHeartbeats();
    }
  };
  const readMetric = async (name: string) =>
    new RegExp(`${name}.* (\\d+)$`, "m").exec(await metrics.metrics())?.[1];
  return {
    app,
    advanceHeartbeats,
    receivedKeys,
    clock,
    snapshotReads,
    stateRefs,
    openStream,
    disconnectCount: () => disconnectCount,
    readMetric,
    streams,
    setState: (key: string, fingerprint: string, text: string) =>
      void states.set(key, { fingerprint, text }),
    /** Blocks snapshot reads until the returned function is called. */
    holdSnapshotReads: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      snapshotGate = promise;
      return resolve;
    },
    /** Blocks new requests until the returned function is called. */
    holdRequests: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      requestGate = promise;
      return resolve;
    },
  };
};

const listTexts = ({ events }: EventStream) =>
  events.map(({ data = "" }) => (JSON.parse(data) as { text: string }).text);
const waitForTexts = (stream: EventStream, ...texts: string[]) =>
  waitUntil(
    () => `${texts.join()} in ${JSON.stringify(stream.events)}`,
    () => stream.events.length >= texts.length && listTexts(stream).join() === texts.join(),
  );
const waitForEnd = (stream: EventStream) => waitUntil("the stream ends", stream.endReason);

describe("an event stream", () => {
  test("sends the state immediately, with headers that prevent caching and rewriting", async () => {
    const rig = await createStreamsRig();
    rig.setState("a", "1", "first");
    const stream = await rig.openStream("a");
    await waitForTexts(stream, "first");
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      connection: "close",
    });
    const [{ event, id, retry } = {}] = stream.events;
    expect([event, id?.length]).toEqual(["state", 16]);
    expect(Number(retry)).toBeGreaterThanOrEqual(1_000);
    expect(Number(retry)).toBeLessThanOrEqual(3_000);
  });

  test("that starts while another one starts is batched with all others that arrived meanwhile", async () => {
    const rig = await createStreamsRig();
    const releaseFirst = rig.holdSnapshotReads();
    const pendingStreams = [rig.openStream("a")];
    await waitUntil("the first snapshot is read", () => rig.snapshotReads.length === 1);
    pendingStreams.push(...["b", "c", "d"].map((key) => rig.openStream(key)));
    await waitUntil("the other requests have arrived", () => rig.receivedKeys.length === 4);
    expect(rig.snapshotReads).toEqual(["a"]);
    const releaseOthers = rig.holdSnapshotReads();
    releaseFirst();
    await waitUntil("all other snapshots are read", () => rig.snapshotReads.length === 4);
    releaseOthers();
    for (const stream of await Promise.all(pendingStreams)) await waitForTexts(stream, "nothing");
  });

  test("sends each change to all subscribers of the same subject, and to no others", async () => {
    const rig = await createStreamsRig();
    const [firstStream, secondStream, otherStream] = [
      await rig.openStream("a"),
      await rig.openStream("a"),
      await rig.openStream("b"),
    ];
    rig.setState("a", "2", "second");
    await rig.streams.publishUpdate("a");
    await waitForTexts(firstStream, "nothing", "second");
    await waitForTexts(secondStream, "nothing", "second");
    await rig.streams.publishUpdate("a");
    await rig.streams.publishUpdate("unknown");
    rig.setState("a", "3", "third");
    await rig.streams.publishUpdate("a");
    await waitForTexts(firstStream, "nothing", "second", "third");
    expect(listTexts(otherStream)).toEqual(["nothing"]);
    expect(rig.streams.listFingerprints()).toEqual([
      { key: "a", fingerprint: "3" },
      { key: "b", fingerprint: "none" },
    ]);
  });

  test("sends only what has changed since the last event to a client that reconnects", async () => {
    const rig = await createStreamsRig();
    const firstStream = await rig.openStream("a");
    await waitForTexts(firstStream, "nothing");
    const id = firstStream.events[0]?.["id"] ?? "";
    const reconnectedStream = await rig.openStream("a", { "last-event-id": id });
    await waitUntil(
      "the reconnected stream has an event",
      () => reconnectedStream.events.length === 1,
    );
    expect(Object.keys(reconnectedStream.events[0] ?? {})).toEqual(["retry"]);
    rig.setState("a", "2", "second");
    const lateStream = await rig.openStream("a", { "last-event-id": id });
    await waitForTexts(lateStream, "second");
  });

  test("marks its fingerprint as stale if another read ran meanwhile", async () => {
    const rig = await createStreamsRig();
    await rig.openStream("a");
    const releaseReads = rig.holdSnapshotReads();
    const slowStream = rig.openStream("a");
    await waitUntil(
      "the slow client is admitted",
      async () => rig.app.requestedBuckets.length === 2,
    );
    rig.setState("a", "2", "second");
    const publishing = rig.streams.publishUpdate("a");
    releaseReads();
    await Promise.all([slowStream, publishing]);
    expect(rig.streams.listFingerprints()).toEqual([
      { key: "a", fingerprint: expect.stringMatching(/^(|2)$/) },
    ]);
    await rig.streams.publishUpdate("a");
    await waitUntil(
      "the last event arrives",
      async () => listTexts(await slowStream).at(-1) === "second",
    );
  });

  test("that starts with a state from before a concurrent update gets that update next", async () => {
    const rig = await createStreamsRig();
    const firstStream = await rig.openStream("a");
    await waitForTexts(firstStream, "nothing");
    const releaseSecond = rig.holdSnapshotReads();
    const secondStream = rig.openStream("a");
    await waitUntil("the second snapshot is read", () => rig.snapshotReads.length === 2);
    rig.setState("a", "2", "second");
    const releaseUpdate = rig.holdSnapshotReads();
    const publishing = rig.streams.publishUpdate("a");
    await waitUntil("the change is read", () => rig.snapshotReads.length === 3);
    releaseSecond();
    await waitForTexts(await secondStream, "nothing");
    releaseUpdate();
    await publishing;
    await waitForTexts(firstStream, "nothing", "second");
    // The background job also publishes when the current fingerprint differs from the listed one.
    expect(rig.streams.listFingerprints()).not.toEqual([{ key: "a", fingerprint: "2" }]);
    await rig.streams.publishUpdate("a");
    await waitForTexts(await secondStream, "nothing", "second");
    await waitForTexts(firstStream, "nothing", "second");
    expect(rig.streams.listFingerprints()).toEqual([{ key: "a", fingerprint: "2" }]);
  });

  test("is never silent for more than 15 s, and sends no comment if it had events (rule CHAIN-15)", async () => {
    const rig = await createStreamsRig();
    const stream = await rig.openStream("a");
    rig.advanceHeartbeats(13_000);
    rig.setState("a", "2", "second");
    await rig.streams.publishUpdate("a");
    rig.advanceHeartbeats(13_000);
    await waitForTexts(stream, "nothing", "second");
    expect(stream.commentCount()).toBe(0);
    rig.advanceHeartbeats(2_000);
    await waitUntil("a comment arrives", () => stream.commentCount() === 1);
  });

  test("ends cleanly after 10 to 15 minutes and unsubscribes (rule CHAIN-15)", async () => {
    const rig = await createStreamsRig();
    const stream = await rig.openStream("a");
    rig.advanceHeartbeats(10 * 60_000 - 1_000);
    expect(rig.streams.listFingerprints()).toHaveLength(1);
    rig.advanceHeartbeats(5 * 60_000 + 1_000);
    expect(await waitForEnd(stream)).toBe("whole");
    await waitUntil("there are no subscribers", () => rig.streams.listFingerprints().length === 0);
    expect(await rig.readMetric('ended_total\\{.*why="lifetime"')).toBe("1");
    expect(await rig.readMetric("payment_links_event_streams\\{")).toBe("0");
  });

  test("that is not read is closed without delaying others", async () => {
    const rig = await createStreamsRig();
    const [stuckStream, readingStream] = [await rig.openStream("a"), await rig.openStream("a")];
    stuckStream.stopReading();
    const large = "x".repeat(500_000);
    for (let count = 0; count < 40; count += 1) {
      rig.setState("a", `${count}`, `${large}${count}`);
      await rig.streams.publishUpdate("a");
      await waitUntil(
        "the reading client has all events",
        () => readingStream.events.length === count + 2,
      );
    }
    expect(await rig.readMetric('ended_total\\{.*why="slow"')).toBe("1");
    expect(await rig.readMetric("payment_links_event_streams\\{")).toBe("1");
  });

  test("is recorded in the request metrics with the time until its start", async () => {
    const rig = await createStreamsRig();
    const stream = await rig.openStream("a");
    await waitForTexts(stream, "nothing");
    expect(await rig.app.metrics.metrics()).toMatch(
      /duration_seconds_count\{.*things.*code="200".*\} 1/,
    );
    stream.close();
    await waitUntil(
      "the stream is unsubscribed",
      () => rig.streams.listFingerprints().length === 0,
    );
    expect(await rig.app.metrics.metrics()).toMatch(
      /duration_seconds_count\{.*things.*code="200".*\} 1/,
    );
  });

  test("sends only headers for HEAD", async () => {
    const rig = await createStreamsRig();
    const stream = await rig.openStream("a", {}, "HEAD");
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    await waitForEnd(stream);
    expect(rig.streams.listFingerprints()).toEqual([]);
  });
});

test("releases the states it has sent once there are no subscribers", async () => {
  const rig = await createStreamsRig();
  for (let count = 0; count < 50; count += 1)
    await waitForEnd(await rig.openStream("a", {}, "HEAD"));
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  await waitUntil("nearly all states are garbage-collected", () => {
    collectGarbage();
    return rig.stateRefs.filter((state) => state.deref() !== undefined).length < 10;
  });
});

describe("more streams than a process or an address may have", () => {
  const forwardedFor = (address: string) => ({ "x-forwarded-for": address });

  test("are rejected with Retry-After, and their slots are released (rule CHAIN-15)", async () => {
    const rig = await createStreamsRig({ total: 3, perAddress: 2 });
    const firstStream = await rig.openStream("a", forwardedFor("192.0.2.1"));
    await rig.openStream("b", forwardedFor("192.0.2.1"));
    const thirdStream = await rig.openStream("c", forwardedFor("192.0.2.1"));
    expect([thirdStream.status, thirdStream.headers["retry-after"]]).toEqual([429, "10"]);
    await rig.openStream("d", forwardedFor("192.0.2.2"));
    const fourthStream = await rig.openStream("e", forwardedFor("192.0.2.3"));
    expect([fourthStream.status, fourthStream.headers["retry-after"]]).toEqual([503, "10"]);
    expect(await rig.readMetric('refused_total\\{.*bound="address"')).toBe("1");
    expect(await rig.readMetric('refused_total\\{.*bound="process"')).toBe("1");
    firstStream.close();
    await waitUntil("its slot is released", () => rig.streams.listFingerprints().length === 2);
    expect((await rig.openStream("f", forwardedFor("192.0.2.1"))).status).toBe(200);
  });

  test("do not include clients that disconnect before they are admitted", async () => {
    const rig = await createStreamsRig({ total: 10, perAddress: 1 });
    const releaseRequests = rig.holdRequests();
    const remainingStreams = request({ port: rig.app.port, path: "/things/a" }).on(
      "error",
      () => {},
    );
    remainingStreams.end();
    await waitUntil("the request has arrived", () => rig.receivedKeys.length === 1);
    remainingStreams.destroy();
    await waitUntil("the client has disconnected", () => rig.disconnectCount() === 1);
    releaseRequests();
    expect((await rig.openStream("a")).status).toBe(200);
  });
});

describe("drain", () => {
  test("ends each stream cleanly; a later one gets the state and a retry delay, then ends", async () => {
    const rig = await createStreamsRig();
    const streams = [await rig.openStream("a"), await rig.openStream("b")];
    rig.streams.drain();
    for (const stream of streams) expect(await waitForEnd(stream)).toBe("whole");
    const lateStream = await rig.openStream("a");
    await waitForTexts(lateStream, "nothing");
    expect(await waitForEnd(lateStream)).toBe("whole");
    expect(Number(lateStream.events[0]?.["retry"])).toBeGreaterThan(0);
  });

  test("ends many streams in batches, and they receive changes until then", async () => {
    const rig = await createStreamsRig({ total: 50, perAddress: 50 });
    const streams = await Promise.all(Array.from({ length: 50 }, () => rig.openStream("a")));
    const countEnded = () => streams.filter(({ endReason }) => endReason() === "whole").length;
    const waitForEndedCount = (count: number) =>
      waitUntil(`${count} streams have ended`, () => countEnded() === count);
    rig.streams.drain();
    rig.streams.drain();
    await waitForEndedCount(20);
    rig.setState("a", "2", "second");
    await rig.streams.publishUpdate("a");
    const remainingStreams = streams.filter(({ endReason }) => endReason() === undefined);
    for (const stream of remainingStreams) await waitForTexts(stream, "nothing", "second");
    expect(countEnded()).toBe(20);
    rig.clock.advance(99);
    const lateStream = await rig.openStream("a");
    expect(await waitForEnd(lateStream)).toBe("whole");
    expect(countEnded()).toBe(20);
    rig.clock.advance(1);
    await waitForEndedCount(40);
    rig.clock.advance(100);
    await waitForEndedCount(50);
  });

  test("ends any number of streams within five seconds", async () => {
    const rig = await createStreamsRig({ total: 1_200, perAddress: 1_200 });
    const streams: EventStream[] = [];
    while (streams.length < 1_200) {
      const batch = Array.from({ length: 50 }, () => rig.openStream("a"));
      streams.push(...(await Promise.all(batch)));
    }
    rig.streams.drain();
    for (let passedMs = 0; passedMs < 5_000; passedMs += 100) {
      rig.clock.advance(100);
      await Promise.resolve();
    }
    for (const stream of streams) expect(await waitForEnd(stream)).toBe("whole");
  });

  test("closes a stream that is not read once the time for its last bytes is over", async () => {
    const rig = await createStreamsRig();
    const stuckStream = await rig.openStream("a");
    stuckStream.stopReading();
    rig.setState("a", "2", "x".repeat(20_000_000));
    await rig.streams.publishUpdate("a");
    rig.streams.drain();
    rig.advanceHeartbeats(11_000);
    await waitUntil(
      "the stream is unsubscribed",
      () => rig.streams.listFingerprints().length === 0,
    );
  });
});
