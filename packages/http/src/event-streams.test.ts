import { request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createHeldClock, openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Followed, followEvents } from "@payment-links/runtime/testing/follow-events";
import { createEventStreams } from "./event-streams.ts";
import { readParam } from "./read-request.ts";
import { publicRoute } from "./route.ts";
import { startApp } from "./testing/start-app.ts";

const opened: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Streams of things whose state a test sets, behind a real server. */
const open = async (limits = { inAll: 10, perAddress: 5 }) => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = openMetrics("test");
  const streams = createEventStreams({ clock, metrics, limits });
  const states = new Map<string, { mark: string; text: string }>();
  const came: string[] = [];
  const looks: string[] = [];
  const made: WeakRef<object>[] = [];
  let leftCount = 0;
  let looking = Promise.resolve();
  let coming = Promise.resolve();
  const app = await startApp({
    trustedProxies: ["127.0.0.1/32"],
    routes: [
      publicRoute({
        method: "get",
        path: "/things/:id",
        isEndless: true,
        handle: async (req, res) => {
          const key = readParam(req, "id");
          came.push(key);
          res.once("close", () => (leftCount += 1));
          await coming;
          const look = async () => {
            looks.push(key);
            const { mark, text } = states.get(key) ?? { mark: "none", text: "nothing" };
            await looking;
            const state = { text };
            made.push(new WeakRef(state));
            return { mark, state };
          };
          return streams.open(req, res, { key, look });
        },
      }),
    ],
  });
  opened.push(() => app.close());
  opened.push(() => streams.drain());
  const follow = async (key: string, headers: Record<string, string> = {}, method = "GET") => {
    const stream = await followEvents(`http://127.0.0.1:${app.port}/things/${key}`, {
      headers,
      method,
    });
    opened.push(stream.close);
    return stream;
  };
  const { beatMs } = streams;
  const beat = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += beatMs) {
      clock.advance(beatMs);
      streams.beat();
    }
  };
  const metric = async (name: string) =>
    new RegExp(`${name}.* (\\d+)$`, "m").exec(await metrics.metrics())?.[1];
  return {
    app,
    beat,
    came,
    clock,
    looks,
    made,
    follow,
    leftCount: () => leftCount,
    metric,
    streams,
    set: (key: string, mark: string, text: string) => void states.set(key, { mark, text }),
    /** Looks take until this is called. */
    holdLooks: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      looking = promise;
      return resolve;
    },
    /** Whoever comes is not let in until this is called. */
    holdComers: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      coming = promise;
      return resolve;
    },
  };
};

const told = ({ events }: Followed) =>
  events.map(({ data = "" }) => (JSON.parse(data) as { text: string }).text);
const hears = (stream: Followed, ...texts: string[]) =>
  waitUntil(
    () => `${texts.join()} in ${JSON.stringify(stream.events)}`,
    () => stream.events.length >= texts.length && told(stream).join() === texts.join(),
  );
const ends = (stream: Followed) => waitUntil("the stream ends", stream.ended);

describe("an event stream", () => {
  test("tells the state at once, in a form that nothing between keeps or rewrites", async () => {
    const rig = await open();
    rig.set("a", "1", "first");
    const stream = await rig.follow("a");
    await hears(stream, "first");
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

  test("that comes while another is opened is opened together with all who came meanwhile", async () => {
    const rig = await open();
    const letFirst = rig.holdLooks();
    const following = [rig.follow("a")];
    await waitUntil("the first is looked up", () => rig.looks.length === 1);
    following.push(...["b", "c", "d"].map((key) => rig.follow(key)));
    await waitUntil("the others have come", () => rig.came.length === 4);
    expect(rig.looks).toEqual(["a"]);
    const letOthers = rig.holdLooks();
    letFirst();
    await waitUntil("all others are looked up", () => rig.looks.length === 4);
    letOthers();
    for (const stream of await Promise.all(following)) await hears(stream, "nothing");
  });

  test("tells each change to all who follow the same, and to nobody else", async () => {
    const rig = await open();
    const [one, two, other] = [await rig.follow("a"), await rig.follow("a"), await rig.follow("b")];
    rig.set("a", "2", "second");
    await rig.streams.tell("a");
    await hears(one, "nothing", "second");
    await hears(two, "nothing", "second");
    await rig.streams.tell("a");
    await rig.streams.tell("unknown");
    rig.set("a", "3", "third");
    await rig.streams.tell("a");
    await hears(one, "nothing", "second", "third");
    expect(told(other)).toEqual(["nothing"]);
    expect(rig.streams.marks()).toEqual([
      { key: "a", mark: "3" },
      { key: "b", mark: "none" },
    ]);
  });

  test("tells who comes back only what has changed since", async () => {
    const rig = await open();
    const first = await rig.follow("a");
    await hears(first, "nothing");
    const id = first.events[0]?.["id"] ?? "";
    const back = await rig.follow("a", { "last-event-id": id });
    await waitUntil("its retry", () => back.events.length === 1);
    expect(Object.keys(back.events[0] ?? {})).toEqual(["retry"]);
    rig.set("a", "2", "second");
    const late = await rig.follow("a", { "last-event-id": id });
    await hears(late, "second");
  });

  test("knows that its mark is stale where another look was made meanwhile", async () => {
    const rig = await open();
    await rig.follow("a");
    const release = rig.holdLooks();
    const slow = rig.follow("a");
    await waitUntil("the slow one looks", async () => rig.app.charged.length === 2);
    rig.set("a", "2", "second");
    const telling = rig.streams.tell("a");
    release();
    await Promise.all([slow, telling]);
    expect(rig.streams.marks()).toEqual([{ key: "a", mark: expect.stringMatching(/^(|2)$/) }]);
    await rig.streams.tell("a");
    await waitUntil("the last word", async () => told(await slow).at(-1) === "second");
  });

  test("that is opened with what was read before a change, while that is told, hears of it next", async () => {
    const rig = await open();
    const first = await rig.follow("a");
    await hears(first, "nothing");
    const letSecond = rig.holdLooks();
    const second = rig.follow("a");
    await waitUntil("the second looks", () => rig.looks.length === 2);
    rig.set("a", "2", "second");
    const letTelling = rig.holdLooks();
    const telling = rig.streams.tell("a");
    await waitUntil("the change is looked up", () => rig.looks.length === 3);
    letSecond();
    await hears(await second, "nothing");
    letTelling();
    await telling;
    await hears(first, "nothing", "second");
    // As the job does: what has another mark than the one known is told.
    expect(rig.streams.marks()).not.toEqual([{ key: "a", mark: "2" }]);
    await rig.streams.tell("a");
    await hears(await second, "nothing", "second");
    await hears(first, "nothing", "second");
    expect(rig.streams.marks()).toEqual([{ key: "a", mark: "2" }]);
  });

  test("never is silent for more than 15 s, and one that speaks needs no comment (rule CHAIN-15)", async () => {
    const rig = await open();
    const stream = await rig.follow("a");
    rig.beat(13_000);
    rig.set("a", "2", "second");
    await rig.streams.tell("a");
    rig.beat(13_000);
    await hears(stream, "nothing", "second");
    expect(stream.commentCount()).toBe(0);
    rig.beat(2_000);
    await waitUntil("a comment", () => stream.commentCount() === 1);
  });

  test("ends in order after 10 to 15 minutes, and then nobody follows (rule CHAIN-15)", async () => {
    const rig = await open();
    const stream = await rig.follow("a");
    rig.beat(10 * 60_000 - 1_000);
    expect(rig.streams.marks()).toHaveLength(1);
    rig.beat(5 * 60_000 + 1_000);
    expect(await ends(stream)).toBe("whole");
    await waitUntil("nobody follows", () => rig.streams.marks().length === 0);
    expect(await rig.metric('ended_total\\{.*why="lifetime"')).toBe("1");
    expect(await rig.metric("payment_links_event_streams\\{")).toBe("0");
  });

  test("that nobody reads is cut off, and holds up nobody else", async () => {
    const rig = await open();
    const [stuck, reader] = [await rig.follow("a"), await rig.follow("a")];
    stuck.stopReading();
    const large = "x".repeat(500_000);
    for (let count = 0; count < 40; count += 1) {
      rig.set("a", `${count}`, `${large}${count}`);
      await rig.streams.tell("a");
      await waitUntil("the reader has it", () => reader.events.length === count + 2);
    }
    expect(await rig.metric('ended_total\\{.*why="slow"')).toBe("1");
    expect(await rig.metric("payment_links_event_streams\\{")).toBe("1");
  });

  test("is counted in the time of requests by how soon it began", async () => {
    const rig = await open();
    const stream = await rig.follow("a");
    await hears(stream, "nothing");
    expect(await rig.app.metrics.metrics()).toMatch(
      /duration_seconds_count\{.*things.*code="200".*\} 1/,
    );
    stream.close();
    await waitUntil("it is gone", () => rig.streams.marks().length === 0);
    expect(await rig.app.metrics.metrics()).toMatch(
      /duration_seconds_count\{.*things.*code="200".*\} 1/,
    );
  });

  test("asked for by HEAD answers its head alone", async () => {
    const rig = await open();
    const stream = await rig.follow("a", {}, "HEAD");
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    await ends(stream);
    expect(rig.streams.marks()).toEqual([]);
  });
});

test("what was told is forgotten once nobody follows it", async () => {
  const rig = await open();
  for (let count = 0; count < 50; count += 1) await ends(await rig.follow("a", {}, "HEAD"));
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  await waitUntil("nearly all is forgotten", () => {
    collectGarbage();
    return rig.made.filter((state) => state.deref() !== undefined).length < 10;
  });
});

describe("more streams than a process or an address may have", () => {
  const from = (address: string) => ({ "x-forwarded-for": address });

  test("are refused with when to try again, and their places come free (rule CHAIN-15)", async () => {
    const rig = await open({ inAll: 3, perAddress: 2 });
    const first = await rig.follow("a", from("192.0.2.1"));
    await rig.follow("b", from("192.0.2.1"));
    const third = await rig.follow("c", from("192.0.2.1"));
    expect([third.status, third.headers["retry-after"]]).toEqual([429, "10"]);
    await rig.follow("d", from("192.0.2.2"));
    const fourth = await rig.follow("e", from("192.0.2.3"));
    expect([fourth.status, fourth.headers["retry-after"]]).toEqual([503, "10"]);
    expect(await rig.metric('refused_total\\{.*bound="address"')).toBe("1");
    expect(await rig.metric('refused_total\\{.*bound="process"')).toBe("1");
    first.close();
    await waitUntil("its place is free", () => rig.streams.marks().length === 2);
    expect((await rig.follow("f", from("192.0.2.1"))).status).toBe(200);
  });

  test("are not made of readers who leave before they are let in", async () => {
    const rig = await open({ inAll: 10, perAddress: 1 });
    const letIn = rig.holdComers();
    const left = request({ port: rig.app.port, path: "/things/a" }).on("error", () => {});
    left.end();
    await waitUntil("it has come", () => rig.came.length === 1);
    left.destroy();
    await waitUntil("it has left", () => rig.leftCount() === 1);
    letIn();
    expect((await rig.follow("a")).status).toBe(200);
  });
});

describe("drain", () => {
  test("ends each stream in order; who comes later is told the state, and to come again", async () => {
    const rig = await open();
    const streams = [await rig.follow("a"), await rig.follow("b")];
    rig.streams.drain();
    for (const stream of streams) expect(await ends(stream)).toBe("whole");
    const late = await rig.follow("a");
    await hears(late, "nothing");
    expect(await ends(late)).toBe("whole");
    expect(Number(late.events[0]?.["retry"])).toBeGreaterThan(0);
  });

  test("ends many a few at a time, and they hear of changes until then", async () => {
    const rig = await open({ inAll: 50, perAddress: 50 });
    const streams = await Promise.all(Array.from({ length: 50 }, () => rig.follow("a")));
    const endedCount = () => streams.filter(({ ended }) => ended() === "whole").length;
    const haveEnded = (count: number) =>
      waitUntil(`${count} have ended`, () => endedCount() === count);
    rig.streams.drain();
    rig.streams.drain();
    await haveEnded(20);
    rig.set("a", "2", "second");
    await rig.streams.tell("a");
    const left = streams.filter(({ ended }) => ended() === undefined);
    for (const stream of left) await hears(stream, "nothing", "second");
    expect(endedCount()).toBe(20);
    rig.clock.advance(99);
    const late = await rig.follow("a");
    expect(await ends(late)).toBe("whole");
    expect(endedCount()).toBe(20);
    rig.clock.advance(1);
    await haveEnded(40);
    rig.clock.advance(100);
    await haveEnded(50);
  });

  test("ends any number of them within five seconds", async () => {
    const rig = await open({ inAll: 1_200, perAddress: 1_200 });
    const streams: Followed[] = [];
    while (streams.length < 1_200) {
      const some = Array.from({ length: 50 }, () => rig.follow("a"));
      streams.push(...(await Promise.all(some)));
    }
    rig.streams.drain();
    for (let passedMs = 0; passedMs < 5_000; passedMs += 100) {
      rig.clock.advance(100);
      await Promise.resolve();
    }
    for (const stream of streams) expect(await ends(stream)).toBe("whole");
  });

  test("of one that nobody reads is over once its last bytes had their time", async () => {
    const rig = await open();
    const stuck = await rig.follow("a");
    stuck.stopReading();
    rig.set("a", "2", "x".repeat(20_000_000));
    await rig.streams.tell("a");
    rig.streams.drain();
    rig.beat(11_000);
    await waitUntil("it is gone", () => rig.streams.marks().length === 0);
  });
});
