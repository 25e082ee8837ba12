import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import type { Response } from "express";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { systemClock } from "@payment-links/runtime";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { waitUntil } from "@payment-links/runtime/testing";
import { answerFile } from "./answer-file.ts";
import { createReadingPace } from "./reading-pace.ts";
import { publicRoute } from "./route.ts";
import { startApp } from "./testing/start-app.ts";

const piece = `${"x".repeat(99)}\n`.repeat(10_000);
/** Only the reader of this file takes nothing for so long. */
const stalled = { name: "long", graceMs: provokedTimeoutMs(100) };

/** Which files came to an end, and how. */
const ended: [string, boolean][] = [];
let pieces = 0;
/** How many bytes waited in the response when its reader was given up. */
let waitingBytes = 0;
let lateBegan = false;

/** What a route does before it has anything to tell; most do nothing. */
type Before = (res: Response) => Promise<unknown>;

const fileRoute = (
  name: string,
  chunks: () => AsyncGenerator<string>,
  before: Before = async () => {},
) =>
  publicRoute({
    method: "get",
    path: `/${name}`,
    // Longer than a test waits.
    answerMsMax: 3_600_000,
    handle: async (req, res) => {
      await before(res);
      const pace = createReadingPace({
        clock: systemClock,
        bytesPerSecond: 1,
        graceMs: name === stalled.name ? stalled.graceMs : ampleTimeoutMs,
        onTooSlow: () => {
          waitingBytes = res.writableLength;
          res.destroy();
        },
      });
      const file = { name, type: "text/plain", chunks };
      ended.push([name, await answerFile(req, res, file, { pace, onRemaining: () => {} })]);
    },
  });

const app = useRig(() =>
  startApp({
    routes: [
      fileRoute("short", async function* () {
        yield "one,";
        yield "two";
      }),
      fileRoute("broken", async function* () {
        yield "one,";
        throw new Error("no more");
      }),
      fileRoute(stalled.name, async function* () {
        for (pieces = 0; pieces < 1_000; pieces += 1) yield piece;
      }),
      fileRoute(
        "late",
        async function* () {
          yield "one";
        },
        async (res) => {
          lateBegan = true;
          await once(res, "close");
        },
      ),
    ],
  }),
);

const get = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${app.port}${path}`, init);

describe("a file that is written while it is sent", () => {
  test("is kept under its name, and a HEAD tells the same without it", async () => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await get("/short", { method });
      expect(answer.headers.get("content-disposition")).toBe('attachment; filename="short"');
      expect(answer.headers.get("content-type")).toBe("text/plain");
      expect(await answer.text()).toBe(method === "GET" ? "one,two" : "");
    }
    expect(ended).toEqual([
      ["short", true],
      ["short", true],
    ]);
  });

  test("is cut off where a piece fails: its end is missing, and whoever reads it knows (rule CALLER-27)", async () => {
    const answer = await get("/broken");
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
  });

  test("is no failure where its reader has left before it begins", async () => {
    const before = ended.length;
    const socket = connect(app.port, "127.0.0.1");
    socket.write("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitUntil("it is asked for", () => lateBegan);
    socket.destroy();
    await waitUntil("it is given up", () => ended.length > before);
    expect(ended.at(-1)).toEqual(["late", false]);
  });

  test("waits for its reader with 32 KiB at most, and ends if it takes nothing at all (rule CALLER-35)", async () => {
    const before = ended.length;
    const socket = connect(app.port, "127.0.0.1");
    socket.pause();
    socket.write("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitUntil("it is given up", () => ended.length > before);
    expect(ended.at(-1)).toEqual(["long", false]);
    // Of a hundred megabytes only what the system's buffers take.
    expect(pieces).toBeLessThan(100);
    expect(waitingBytes).toBeGreaterThan(0);
    expect(waitingBytes).toBeLessThanOrEqual(32 * 1_024);
    socket.destroy();
    await once(socket, "close");
  });
});
