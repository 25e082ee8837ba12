import { describe, expect, test } from "@jest/globals";
import type { Response } from "express";
import { createHeldClock, openMetrics } from "@payment-links/runtime";
import { type ReadPart, createExports } from "./exports.ts";

/** Lets everything run that only waits for its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const open = () => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = openMetrics("test");
  const exports = createExports({ clock, metrics });
  const headers: Record<string, unknown> = {};
  const res = {
    setHeader: (name: string, value: unknown) => void (headers[name] = value),
  } as unknown as Response;
  /** Begins an export of an account, which goes on until it is told to end. */
  const begin = async (accountId: string) => {
    const { promise, reject, resolve } = Promise.withResolvers<boolean>();
    let given: ReadPart | undefined;
    const made = exports.make(res, accountId, (readPart) => {
      given = readPart;
      return promise;
    });
    const outcome = made.then(
      () => "made",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
    await settled();
    return { end: resolve, fail: reject, outcome, readPart: given };
  };
  return { begin, clock, headers, metrics };
};

describe("exports", () => {
  test("are two of an account at once, and twenty in all; another is told to come back (rule CALLER-27)", async () => {
    const { begin, headers, metrics } = open();
    const [first, second] = [await begin("a"), await begin("a")];
    expect(await (await begin("a")).outcome).toBe("429");
    expect(headers["Retry-After"]).toBe("10");
    for (let index = 0; index < 18; index += 1) await begin(`other ${index}`);
    expect(await (await begin("b")).outcome).toBe("429");
    first.end(true);
    second.fail(new Error("no database"));
    expect([await first.outcome, await second.outcome]).toEqual(["made", "no database"]);
    const left = await begin("a");
    left.end(false);
    await left.outcome;
    const told = await metrics.metrics();
    for (const [outcome, count] of Object.entries({ whole: 1, left: 1, failed: 1, refused: 2 })) {
      expect(told).toMatch(
        new RegExp(`payment_links_exports_total\\{.*outcome="${outcome}".*\\} ${count}`),
      );
    }
  });

  test("read one part at a time, and leave half of the time to others", async () => {
    const { begin, clock } = open();
    const reading: string[] = [];
    const ends: (() => void)[] = [];
    const read = (name: string) => () => {
      reading.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const [a, b] = [await begin("a"), await begin("b")];
    const parts = [a.readPart?.(read("a")), b.readPart?.(read("b"))];
    await settled();
    expect(reading).toEqual(["a"]);
    clock.advance(400);
    ends[0]?.();
    await parts[0];
    clock.advance(399);
    await settled();
    expect(reading).toEqual(["a"]);
    clock.advance(1);
    await settled();
    expect(reading).toEqual(["a", "b"]);
    ends[1]?.();
    await parts[1];
  });

  test("that fail to read a part give the turn on", async () => {
    const { begin } = open();
    const [a, b] = [await begin("a"), await begin("b")];
    await expect(a.readPart?.(() => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    expect(await b.readPart?.(async () => "read")).toBe("read");
  });
});
