import { describe, expect, test } from "@jest/globals";
import { createFakeClock, createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type SlowReader, connectSlowReader } from "@payment-links/runtime/testing/slow-reader";
import { type ReadPart, createExports } from "./exports.ts";
import { parsePathParameter } from "./parse-request.ts";
import { publicRoute } from "./route.ts";
import { startApp } from "./testing/start-app.ts";

const kibibyte = 1_024;
const graceMs = 30_000;

/** Runs everything that is only waiting for the next turn of the event loop. */
const flushImmediates = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Creates a server whose `/export/<account>` sends the file that the test has set for the account.
 */
const createExportsRig = async () => {
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = createMetrics("test");
  const database = { get: async () => "connection", end: async () => {} };
  const exports = createExports({ clock, metrics, database });
  const files = new Map<string, (readPart: ReadPart<string>) => AsyncIterable<string>>();
  const buildSteps = new Map<string, (readPart: ReadPart<string>) => Promise<void>>();
  const sentKibibytes = new Map<string, number>();
  const remainder = Promise.withResolvers<void>();
  const route = publicRoute({
    method: "get",
    path: "/export/:account",
    responseMsMax: 3_600_000,
    handle: (req, res) => {
      const account = parsePathParameter(req, "account");
      return exports.send(req, res, account, async (readPart) => {
        await buildSteps.get(account)?.(readPart);
        const chunks = () => files.get(account)?.(readPart) ?? generateEndlessText(account);
        return { name: "file.csv", type: "text/csv", chunks };
      });
    },
  });
  async function* generateEndlessText(account: string) {
    const text = "x".repeat(64 * kibibyte);
    for (let count = 64; ; count += 64) {
      sentKibibytes.set(account, count);
      yield text;
    }
  }
  const app = await startApp({ routes: [route], trustedProxies: ["127.0.0.1"] });
  const readMetric = async (name: string, labelText = ""): Promise<number> => {
    const lines = (await metrics.metrics()).split("\n");
    const line = lines.find(
      (logLine) => logLine.startsWith(`${name}{`) && logLine.includes(labelText),
    );
    return Number(line?.split(" ").at(-1) ?? 0);
  };
  const readers: SlowReader[] = [];
  const requestExport = async (account: string, fromAddress = "192.0.2.1") => {
    const url = `http://127.0.0.1:${app.port}/export/${account}`;
    const reader = await connectSlowReader({ url, headers: { "X-Forwarded-For": fromAddress } });
    readers.push(reader);
    return reader;
  };
  return {
    ...app,
    clock,
    exports,
    files,
    buildSteps,
    requestExport,
    /** Requests a file. The service sends its first bytes and then waits for the rest. */
    requestHealthy: (account: string, fromAddress?: string) => {
      files.set(account, async function* () {
        yield "id\r\n";
        await remainder.promise;
      });
      return requestExport(account, fromAddress);
    },
    /** Disconnects all readers. */
    disconnectAll: () => {
      remainder.resolve();
      for (const reader of readers) reader.disconnect();
    },
    /** Completes the files that the service has not finished reading. */
    finishFiles: () => remainder.resolve(),
    sentKibibytes: (account: string) => sentKibibytes.get(account) ?? 0,
    countOutcome: (outcome: string) =>
      readMetric("payment_links_exports_total", `outcome="${outcome}"`),
    /**
     * Waits until this many exports wait for their clients and the server cannot send any more
     * bytes.
     */
    waitForWaitingCount: async (count: number) => {
      let quietPolls = 0;
      let sentBefore = 0;
      await waitUntil("exports wait for their clients", async () => {
        const waitingCount = await readMetric("payment_links_exports_under_way", `state="waiting"`);
        const sentTotal = [...sentKibibytes.values()].reduce(
          (sum, kibibytes) => sum + kibibytes,
          0,
        );
        quietPolls = waitingCount === count && sentTotal === sentBefore ? quietPolls + 1 : 0;
        sentBefore = sentTotal;
        return quietPolls >= 10;
      });
    },
    countReading: () => readMetric("payment_links_exports_under_way", `state="reading"`),
  };
};

/** Runs a test with its own server, so that exports of other tests do not interfere. */
const withRig = async (
  runTest: (rig: Awaited<ReturnType<typeof createExportsRig>>) => Promise<void>,
) => {
  const rig = await createExportsRig();
  try {
    await runTest(rig);
  } finally {
    rig.disconnectAll();
    await rig.close();
  }
};

describe("exports", () => {
  test("allow two per account; another gets 429 until one ends (rule CALLER-35)", () =>
    withRig(async ({ countOutcome, countReading, finishFiles, requestHealthy }) => {
      const readers = [await requestHealthy("a"), await requestHealthy("a")];
      const rejected = await requestHealthy("a");
      expect([rejected.status, /retry-after: 10\r\n/i.test(rejected.head)]).toEqual([429, true]);
      const otherReader = await requestHealthy("b");
      expect(otherReader.status).toBe(200);
      expect([await countOutcome("refused"), await countReading()]).toEqual([1, 3]);
      finishFiles();
      for (const reader of readers) await reader.read(Infinity);
      await waitUntil("the exports have ended", async () => (await countOutcome("whole")) === 3);
      expect((await requestHealthy("a")).status).toBe(200);
    }));

  test.each([
    ["192.0.2.7", "192.0.2.7", "192.0.2.8"],
    ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"],
  ])(
    "allow eight per address: %s shares its limit with %s, but not with %s (rule CALLER-35)",
    (firstAddress, sameNetworkAddress, otherAddress) =>
      withRig(async ({ requestHealthy }) => {
        for (let index = 0; index < 8; index += 1) {
          expect((await requestHealthy(`of-${index}`, firstAddress)).status).toBe(200);
        }
        expect((await requestHealthy("next", sameNetworkAddress)).status).toBe(429);
        expect((await requestHealthy("next", otherAddress)).status).toBe(200);
      }),
  );

  test("allow sixty in total: the most stalled one is displaced, never one that is read fast enough (rule CALLER-35)", () =>
    withRig(async ({ clock, countOutcome, requestExport, requestHealthy, waitForWaitingCount }) => {
      const stalledReader = await requestExport("stalled", "198.51.100.1");
      await waitForWaitingCount(1);
      clock.advance(1_000);
      const lessStalledReader = await requestExport("less-stalled", "198.51.100.1");
      await waitForWaitingCount(2);
      for (let index = 0; index < 58; index += 1) {
        expect((await requestHealthy(`of-${index}`, `192.0.2.${index}`)).status).toBe(200);
      }
      clock.advance(3_999);
      expect((await requestHealthy("next", "192.0.2.99")).status).toBe(429);
      clock.advance(1);
      expect((await requestHealthy("next", "192.0.2.99")).status).toBe(200);
      await stalledReader.read(Infinity);
      expect([stalledReader.isClosed(), lessStalledReader.isClosed()]).toEqual([true, false]);
      expect(await countOutcome("displaced")).toBe(1);
      lessStalledReader.disconnect();
      await waitUntil("one client has left", async () => (await countOutcome("left")) === 1);
      expect((await requestHealthy("last", "192.0.2.98")).status).toBe(200);
      clock.advance(3_600_000);
      expect((await requestHealthy("none", "192.0.2.97")).status).toBe(429);
    }));

  test("end for a client that reads less than 8 KiB/s for 30 seconds (rule CALLER-35)", () =>
    withRig(async ({ clock, countOutcome, requestExport, sentKibibytes, waitForWaitingCount }) => {
      const reader = await requestExport("slow");
      /**
       * Reads more than the minimum rate requires in 30 seconds, so that the client has caught up.
       */
      const catchUp = async () => {
        const sentBefore = sentKibibytes("slow");
        while (!reader.isClosed() && sentKibibytes("slow") < sentBefore + 1_024) {
          await reader.read(64 * kibibyte);
        }
        expect(reader.isClosed()).toBe(false);
        await waitForWaitingCount(1);
      };
      await waitForWaitingCount(1);
      for (let times = 0; times < 2; times += 1) {
        clock.advance(graceMs - 1);
        await catchUp();
      }
      clock.advance(graceMs);
      await waitUntil("the export is ended", async () => (await countOutcome("slow")) === 1);
      await reader.read(Infinity);
      expect(reader.isClosed()).toBe(true);
    }));

  test("do not measure the time in which the service has nothing to send", () =>
    withRig(async ({ clock, countOutcome, files, requestExport }) => {
      const pendingPart = Promise.withResolvers<string>();
      files.set("a", async function* () {
        yield "id\r\n";
        yield await pendingPart.promise;
      });
      const reader = await requestExport("a");
      clock.advance(1_000_000);
      pendingPart.resolve("1\r\n");
      await reader.read(Infinity);
      expect(await countOutcome("whole")).toBe(1);
    }));

  test("wait at most 30 seconds for their turn to read, then get 503 with Retry-After (rule CALLER-36)", () =>
    withRig(async ({ clock, buildSteps, requestExport }) => {
      const pendingRead = Promise.withResolvers<void>();
      const requestedAccounts: string[] = [];
      buildSteps.set(
        "a",
        (readPart) => (requestedAccounts.push("a"), readPart(() => pendingRead.promise)),
      );
      buildSteps.set("b", (readPart) => (requestedAccounts.push("b"), readPart(async () => {})));
      const firstRequest = requestExport("a");
      await waitUntil("the first export reads", () => requestedAccounts.length === 1);
      const secondRequest = requestExport("b");
      await waitUntil("the second export waits", () => requestedAccounts.length === 2);
      clock.advance(30_000);
      const { head, status } = await secondRequest;
      expect([status, /retry-after: 10\r\n/i.test(head)]).toEqual([503, true]);
      pendingRead.resolve();
      expect((await firstRequest).status).toBe(200);
    }));

  test("read one part at a time, and use at most half of the time", () =>
    withRig(async ({ clock, buildSteps, requestExport }) => {
      const startedAccounts: string[] = [];
      const finishReads: (() => void)[] = [];
      for (const account of ["a", "b"]) {
        buildSteps.set(account, (readPart) =>
          readPart(() => {
            startedAccounts.push(account);
            return new Promise<void>((resolve) => finishReads.push(resolve));
          }),
        );
      }
      const firstRequest = requestExport("a");
      await waitUntil("the first export reads", () => startedAccounts.length === 1);
      const secondRequest = requestExport("b");
      clock.advance(400);
      finishReads[0]?.();
      expect((await firstRequest).status).toBe(200);
      clock.advance(399);
      await flushImmediates();
      expect(startedAccounts).toEqual(["a"]);
      await waitUntil("the second export reads", () => {
        clock.advance(1);
        return startedAccounts.length === 2;
      });
      finishReads[1]?.();
      expect((await secondRequest).status).toBe(200);
    }));

  test("pass the turn on when a read fails, and read nothing for a client that has left", () =>
    withRig(async ({ countOutcome, buildSteps, requestExport }) => {
      buildSteps.set("a", (readPart) => readPart(() => Promise.reject(new Error("gone"))));
      expect((await requestExport("a")).status).toBe(500);
      expect(await countOutcome("failed")).toBe(1);
      buildSteps.set("b", (readPart) => readPart(async () => {}));
      const reader = await requestExport("b");
      expect(reader.status).toBe(200);
      reader.disconnect();
      await waitUntil(
        "the end of the export is counted",
        async () => (await countOutcome("left")) === 1,
      );
    }));
});
