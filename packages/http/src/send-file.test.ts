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
/** Only the client of this file stops reading for longer than the grace period. */
const stalledFile = { name: "long", graceMs: provokedTimeoutMs(100) };

/** The files that have finished, and whether they were complete. */
const finishedFiles: [string, boolean][] = [];
let sliceCount = 0;
/** The number of bytes in the response's buffer when its client was disconnected. */
let bufferedBytes = 0;
let hasLateStarted = false;

/** Runs before a route sends its file. It does nothing for most routes. */
type BeforeSend = (res: Response) => Promise<unknown>;

const createFileRoute = (
  name: string,
  chunks: () => AsyncGenerator<string>,
  beforeSend: BeforeSend = async () => {},
) =>
  publicRoute({
    method: "get",
    path: `/${name}`,
    // Longer than any test waits.
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

describe("a file that is generated while it is sent", () => {
  test("is downloaded under its name, and HEAD returns the same headers without the content", async () => {
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

  test("is cut off when a chunk fails, so that the client notices the missing end (rule CALLER-27)", async () => {
    const response = await fetchFile("/broken");
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  test("is not an error if its client left before it started", async () => {
    const finishedBefore = finishedFiles.length;
    const socket = connect(app.port, "127.0.0.1");
    socket.write("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitUntil("the file is requested", () => hasLateStarted);
    socket.destroy();
    await waitUntil("the file is abandoned", () => finishedFiles.length > finishedBefore);
    expect(finishedFiles.at(-1)).toEqual(["late", false]);
  });

  test("buffers at most 32 KiB for its client, and ends if the client reads nothing (rule CALLER-35)", async () => {
    const finishedBefore = finishedFiles.length;
    const socket = connect(app.port, "127.0.0.1");
    socket.pause();
    socket.write("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitUntil("the file is abandoned", () => finishedFiles.length > finishedBefore);
    expect(finishedFiles.at(-1)).toEqual(["long", false]);
    // The file has 1 GB, but only the bytes that fit the system's buffers are sent.
    expect(sliceCount).toBeLessThan(100);
    expect(bufferedBytes).toBeGreaterThan(0);
    expect(bufferedBytes).toBeLessThanOrEqual(32 * 1_024);
    socket.destroy();
    await once(socket, "close");
  });
});
