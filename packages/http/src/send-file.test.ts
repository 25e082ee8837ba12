import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import type { Response } from "express";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { systemClock } from "@payment-links/runtime";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { waitUntil } from "@payment-links/runtime/testing";
import { sendFile } from "./send-file.ts";
import { createTransferRateMonitor } from "./transfer-rate-monitor.ts";
import { publicRoute } from "./route.ts";
import { startApp } from "./testing/start-app.ts";

const slice = `${"x".repeat(99)}\n`.repeat(10_000);
/** Only the reader of this file takes nothing for so long. */
const stalledFile = { name: "long", graceMs: provokedTimeoutMs(100) };

/** Which files came to an end, and how. */
const finishedFiles: [string, boolean][] = [];
let sliceCount = 0;
/** How many bytes waited in the response when its reader was given up. */
let bufferedBytes = 0;
let hasLateStarted = false;

/** What a route does before it has anything to tell; most do nothing. */
type BeforeSend = (res: Response) => Promise<unknown>;

const createFileRoute = (
  name: string,
  chunks: () => AsyncGenerator<string>,
  beforeSend: BeforeSend = async () => {},
) =>
  publicRoute({
    method: "get",
    path: `/${name}`,
    // Longer than a test waits.
    responseMsMax: 3_600_000,
    handle: async (req, res) => {
      await beforeSend(res);
      const transferRate = createTransferRateMonitor({
        clock: systemClock,
        bytesPerSecond: 1,
        graceMs: name === stalledFile.name ? stalledFile.graceMs : ampleTimeoutMs,
        onTooSlow: () => {
          bufferedBytes = res.writableLength;
          res.destroy();
        },
      });
      const file = { name, type: "text/plain", chunks };
      finishedFiles.push([
        name,
        await sendFile(req, res, file, { transferRate, onRemainingBytes: () => {} }),
      ]);
    },
  });

const app = useRig(() =>
  startApp({
    routes: [
      createFileRoute("short", async function* () {
        yield "one,";
        yield "two";
      }),
      createFileRoute("broken", async function* () {
        yield "one,";
        throw new Error("no more");
      }),
      createFileRoute(stalledFile.name, async function* () {
        for (sliceCount = 0; sliceCount < 1_000; sliceCount += 1) yield slice;
      }),
      createFileRoute(
        "late",
        async function* () {
          yield "one";
        },
        async (res) => {
          hasLateStarted = true;
          await once(res, "close");
        },
      ),
    ],
  }),
);

const fetchFile = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${app.port}${path}`, init);

describe("a file that is written while it is sent", () => {
  test("is kept under its name, and a HEAD tells the same without it", async () => {
    for (const method of ["GET", "HEAD"]) {
      const response = await fetchFile("/short", { method });
      expect(response.headers.get("content-disposition")).toBe('attachment; filename="short"');
      expect(response.headers.get("content-type")).toBe("text/plain");
      expect(await response.text()).toBe(method === "GET" ? "one,two" : "");
    }
    expect(finishedFiles).toEqual([
      ["short", true],
      ["short", true],
    ]);
  });

  test("is cut off where a piece fails: its end is missing, and whoever reads it knows (rule CALLER-27)", async () => {
    const response = await fetchFile("/broken");
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  test("is no failure where its reader has left before it begins", async () => {
    const finishedBefore = finishedFiles.length;
    const socket = connect(app.port, "127.0.0.1");
    socket.write("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitUntil("it is asked for", () => hasLateStarted);
    socket.destroy();
    await waitUntil("it is given up", () => finishedFiles.length > finishedBefore);
    expect(finishedFiles.at(-1)).toEqual(["late", false]);
  });

  test("waits for its reader with 32 KiB at most, and ends if it takes nothing at all (rule CALLER-35)", async () => {
    const finishedBefore = finishedFiles.length;
    const socket = connect(app.port, "127.0.0.1");
    socket.pause();
    socket.write("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitUntil("it is given up", () => finishedFiles.length > finishedBefore);
    expect(finishedFiles.at(-1)).toEqual(["long", false]);
    // Of a hundred megabytes only what the system's buffers take.
    expect(sliceCount).toBeLessThan(100);
    expect(bufferedBytes).toBeGreaterThan(0);
    expect(bufferedBytes).toBeLessThanOrEqual(32 * 1_024);
    socket.destroy();
    await once(socket, "close");
  });
});
