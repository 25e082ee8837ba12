import { describe, expect, test } from "@jest/globals";
import { afterMs, createHeldClock, systemClock } from "./clock.ts";

const start = new Date("2026-11-21T10:00:00Z");
const never = new AbortController().signal;

/** Lets every promise that is ready go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("a held clock (rule KEEP-9)", () => {
  test("stands still until it is moved, and moves by exactly that much", async () => {
    const clock = createHeldClock(start);
    await settle();
    expect(clock.now()).toEqual(start);
    clock.advance(1500);
    expect(clock.now()).toEqual(new Date("2026-11-21T10:00:01.500Z"));
    expect(afterMs(clock, 500)).toEqual(new Date("2026-11-21T10:00:02Z"));
  });

  test("wakes in the order of time, not of asking, whoever waited for an instant now reached", async () => {
    const clock = createHeldClock(start);
    const woken: number[] = [];
    for (const waitMs of [300, 100, 200, 301]) {
      void clock.until(afterMs(clock, waitMs), never).then(() => woken.push(waitMs));
    }
    clock.advance(99);
    await settle();
    expect(woken).toEqual([]);
    clock.advance(201);
    await settle();
    expect(woken).toEqual([100, 200, 300]);
    clock.advance(1);
    await settle();
    expect(woken).toEqual([100, 200, 300, 301]);
  });

  test("does not wait for an instant that is reached, past, or none", async () => {
    const clock = createHeldClock(start);
    await clock.until(start, never);
    await clock.until(new Date(0), never);
    await clock.until(new Date(Number.NaN), never);
  });

  test("given an abort, before or while waiting, ends the wait without an error", async () => {
    const clock = createHeldClock(start);
    const controller = new AbortController();
    const waiting = clock.until(afterMs(clock, 1000), controller.signal);
    controller.abort();
    await waiting;
    await clock.until(afterMs(clock, 1000), controller.signal);
    expect(clock.now()).toEqual(start);
  });

  test("hands out instants that nobody can move it by", () => {
    const clock = createHeldClock(start);
    clock.now().setFullYear(1970);
    expect(clock.now()).toEqual(start);
  });
});

/* oxlint-disable reliability/no-fixed-wait -- what waits here is what is tested */
describe("the system clock", () => {
  test("waits until the instant is reached and not less", async () => {
    const until = afterMs(systemClock, 30);
    await systemClock.until(until, never);
    expect(Date.now()).toBeGreaterThanOrEqual(until.getTime());
  });

  test("given an abort while it waits for an instant years ahead, ends at once", async () => {
    const controller = new AbortController();
    const waiting = systemClock.until(afterMs(systemClock, 2 ** 40), controller.signal);
    await settle();
    controller.abort();
    await waiting;
  });

  test("does not wait for an instant that is past, or none", async () => {
    await systemClock.until(new Date(0), never);
    await systemClock.until(new Date(Number.NaN), never);
  });
});

describe("a clock that is set back", () => {
  const hourMs = 3_600_000;

  test("makes no wait longer that was begun before", async () => {
    const waiting = systemClock.until(afterMs(systemClock, 20), never);
    const realNow = Date.now;
    Date.now = () => realNow() - hourMs;
    try {
      await waiting;
    } finally {
      Date.now = realNow;
    }
  });

  test("held by a test does the same, and its elapsed time goes on", async () => {
    const clock = createHeldClock(start);
    let isOver = false;
    void clock.until(afterMs(clock, 100), never).then(() => (isOver = true));
    clock.setBack(hourMs);
    expect(clock.now()).toEqual(new Date(start.getTime() - hourMs));
    clock.advance(100);
    await settle();
    expect([isOver, clock.elapsedMs()]).toEqual([true, 100]);
  });
});
