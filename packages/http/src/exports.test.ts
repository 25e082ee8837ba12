import { describe, expect, test } from "@jest/globals";
import { createHeldClock, openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type SlowReader, openSlowReader } from "@payment-links/runtime/testing/slow-reader";
import { type ReadPart, createExports } from "./exports.ts";
import { readParam } from "./read-request.ts";
import { publicRoute } from "./route.ts";
import { startApp } from "./testing/start-app.ts";

const kibibyte = 1_024;
const graceMs = 30_000;

/** Lets everything run that only waits for its turn. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A server whose `/export/<account>` sends the file that the account's test wants. */
const openRig = async () => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = openMetrics("test");
  const database = { get: async () => "connection", end: async () => {} };
  const exports = createExports({ clock, metrics, database });
  const files = new Map<string, (readPart: ReadPart<string>) => AsyncIterable<string>>();
  const isBuilding = new Map<string, (readPart: ReadPart<string>) => Promise<void>>();
  const sentKibibytes = new Map<string, number>();
  const rest = Promise.withResolvers<void>();
  const route = publicRoute({
    method: "get",
    path: "/export/:account",
    answerMsMax: 3_600_000,
    handle: (req, res) => {
      const account = readParam(req, "account");
      return exports.send(req, res, account, async (readPart) => {
        await isBuilding.get(account)?.(readPart);
        const chunks = () => files.get(account)?.(readPart) ?? endless(account);
        return { name: "file.csv", type: "text/csv", chunks };
      });
    },
  });
  async function* endless(account: string) {
    const text = "x".repeat(64 * kibibyte);
    for (let count = 64; ; count += 64) {
      sentKibibytes.set(account, count);
      yield text;
    }
  }
  const app = await startApp({ routes: [route], trustedProxies: ["127.0.0.1"] });
  const read = async (name: string, label = ""): Promise<number> => {
    const lines = (await metrics.metrics()).split("\n");
    const line = lines.find((one) => one.startsWith(`${name}{`) && one.includes(label));
    return Number(line?.split(" ").at(-1) ?? 0);
  };
  const readers: SlowReader[] = [];
  const request = async (account: string, from = "192.0.2.1") => {
    const url = `http://127.0.0.1:${app.port}/export/${account}`;
    const reader = await openSlowReader({ url, headers: { "X-Forwarded-For": from } });
    readers.push(reader);
    return reader;
  };
  return {
    ...app,
    clock,
    exports,
    files,
    isBuilding,
    request,
    /** A file whose first bytes are sent, and whose rest the service has not read yet. */
    requestHealthy: (account: string, from?: string) => {
      files.set(account, async function* () {
        yield "id\r\n";
        await rest.promise;
      });
      return request(account, from);
    },
    /** All readers go away. */
    leave: () => {
      rest.resolve();
      for (const reader of readers) reader.leave();
    },
    /** Ends the files that the service has not read to their end. */
    finish: () => rest.resolve(),
    sentKibibytes: (account: string) => sentKibibytes.get(account) ?? 0,
    countOf: (outcome: string) => read("payment_links_exports_total", `outcome="${outcome}"`),
    /** Waits until so many exports wait for their readers, and no byte is taken any more. */
    untilWaiting: async (count: number) => {
      let quietPolls = 0;
      let sentBefore = 0;
      await waitUntil("exports wait for their readers", async () => {
        const waiting = await read("payment_links_exports_under_way", `state="waiting"`);
        const sent = [...sentKibibytes.values()].reduce((sum, one) => sum + one, 0);
        quietPolls = waiting === count && sent === sentBefore ? quietPolls + 1 : 0;
        sentBefore = sent;
        return quietPolls >= 10;
      });
    },
    countReading: () => read("payment_links_exports_under_way", `state="reading"`),
  };
};

/** A server of its own, whose exports no other test has. */
const withRig = async (work: (rig: Awaited<ReturnType<typeof openRig>>) => Promise<void>) => {
  const rig = await openRig();
  try {
    await work(rig);
  } finally {
    rig.leave();
    await rig.close();
  }
};

describe("exports", () => {
  test("are two of an account at a time; another gets 429 until one ends (rule CALLER-35)", () =>
    withRig(async ({ countOf, countReading, finish, requestHealthy }) => {
      const readers = [await requestHealthy("a"), await requestHealthy("a")];
      const rejected = await requestHealthy("a");
      expect([rejected.status, /retry-after: 10\r\n/i.test(rejected.head)]).toEqual([429, true]);
      const other = await requestHealthy("b");
      expect(other.status).toBe(200);
      expect([await countOf("refused"), await countReading()]).toEqual([1, 3]);
      finish();
      for (const reader of readers) await reader.read(Infinity);
      await waitUntil("they have ended", async () => (await countOf("whole")) === 3);
      expect((await requestHealthy("a")).status).toBe(200);
    }));

  test.each([
    ["192.0.2.7", "192.0.2.7", "192.0.2.8"],
    ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"],
  ])(
    "are eight of one address, as %s with %s, but not with %s (rule CALLER-35)",
    (first, same, other) =>
      withRig(async ({ requestHealthy }) => {
        for (let index = 0; index < 8; index += 1) {
          expect((await requestHealthy(`of-${index}`, first)).status).toBe(200);
        }
        expect((await requestHealthy("next", same)).status).toBe(429);
        expect((await requestHealthy("next", other)).status).toBe(200);
      }),
  );

  test("are sixty in total: the most stalled one makes room, and never one whose reader keeps up (rule CALLER-35)", () =>
    withRig(async ({ clock, countOf, request, requestHealthy, untilWaiting }) => {
      const stalled = await request("stalled", "198.51.100.1");
      await untilWaiting(1);
      clock.advance(1_000);
      const lessStalled = await request("less-stalled", "198.51.100.1");
      await untilWaiting(2);
      for (let index = 0; index < 58; index += 1) {
        expect((await requestHealthy(`of-${index}`, `192.0.2.${index}`)).status).toBe(200);
      }
      clock.advance(3_999);
      expect((await requestHealthy("next", "192.0.2.99")).status).toBe(429);
      clock.advance(1);
      expect((await requestHealthy("next", "192.0.2.99")).status).toBe(200);
      await stalled.read(Infinity);
      expect([stalled.isClosed(), lessStalled.isClosed()]).toEqual([true, false]);
      expect(await countOf("displaced")).toBe(1);
      lessStalled.leave();
      await waitUntil("one left", async () => (await countOf("left")) === 1);
      expect((await requestHealthy("last", "192.0.2.98")).status).toBe(200);
      clock.advance(3_600_000);
      expect((await requestHealthy("none", "192.0.2.97")).status).toBe(429);
    }));

  test("end a reader that takes less than 8 KiB/s for 30 seconds (rule CALLER-35)", () =>
    withRig(async ({ clock, countOf, request, sentKibibytes, untilWaiting }) => {
      const reader = await request("slow");
      /** Reads more than 30 seconds' worth, so that the reader has caught up. */
      const catchUp = async () => {
        const before = sentKibibytes("slow");
        while (!reader.isClosed() && sentKibibytes("slow") < before + 1_024) {
          await reader.read(64 * kibibyte);
        }
        expect(reader.isClosed()).toBe(false);
        await untilWaiting(1);
      };
      await untilWaiting(1);
      for (let times = 0; times < 2; times += 1) {
        clock.advance(graceMs - 1);
        await catchUp();
      }
      clock.advance(graceMs);
      await waitUntil("it is ended", async () => (await countOf("slow")) === 1);
      await reader.read(Infinity);
      expect(reader.isClosed()).toBe(true);
    }));

  test("never count the time against a reader in which the service has nothing to send", () =>
    withRig(async ({ clock, countOf, files, request }) => {
      const part = Promise.withResolvers<string>();
      files.set("a", async function* () {
        yield "id\r\n";
        yield await part.promise;
      });
      const reader = await request("a");
      clock.advance(1_000_000);
      part.resolve("1\r\n");
      await reader.read(Infinity);
      expect(await countOf("whole")).toBe(1);
    }));

  test("wait at most 30 seconds for their turn to read, then get 503 with Retry-After (rule CALLER-36)", () =>
    withRig(async ({ clock, isBuilding, request }) => {
      const reading = Promise.withResolvers<void>();
      const asked: string[] = [];
      isBuilding.set("a", (readPart) => (asked.push("a"), readPart(() => reading.promise)));
      isBuilding.set("b", (readPart) => (asked.push("b"), readPart(async () => {})));
      const first = request("a");
      await waitUntil("the first reads", () => asked.length === 1);
      const second = request("b");
      await waitUntil("the second waits", () => asked.length === 2);
      clock.advance(30_000);
      const { head, status } = await second;
      expect([status, /retry-after: 10\r\n/i.test(head)]).toEqual([503, true]);
      reading.resolve();
      expect((await first).status).toBe(200);
    }));

  test("read one part at a time, and leave half of the time to others", () =>
    withRig(async ({ clock, isBuilding, request }) => {
      const started: string[] = [];
      const ends: (() => void)[] = [];
      for (const account of ["a", "b"]) {
        isBuilding.set(account, (readPart) =>
          readPart(() => {
            started.push(account);
            return new Promise<void>((resolve) => ends.push(resolve));
          }),
        );
      }
      const first = request("a");
      await waitUntil("the first reads", () => started.length === 1);
      const second = request("b");
      clock.advance(400);
      ends[0]?.();
      expect((await first).status).toBe(200);
      clock.advance(399);
      await nextTurn();
      expect(started).toEqual(["a"]);
      await waitUntil("the second has its turn", () => {
        clock.advance(1);
        return started.length === 2;
      });
      ends[1]?.();
      expect((await second).status).toBe(200);
    }));

  test("that fail to read a part give the turn on, and read nothing for a reader who has left", () =>
    withRig(async ({ countOf, isBuilding, request }) => {
      isBuilding.set("a", (readPart) => readPart(() => Promise.reject(new Error("gone"))));
      expect((await request("a")).status).toBe(500);
      expect(await countOf("failed")).toBe(1);
      isBuilding.set("b", (readPart) => readPart(async () => {}));
      const reader = await request("b");
      expect(reader.status).toBe(200);
      reader.leave();
      await waitUntil("its end is counted", async () => (await countOf("left")) === 1);
    }));
});
