import { describe, expect, test } from "@jest/globals";
import { afterMs, createFakeClock, systemClock } from "./clock.ts";

const startAt = new Date("2026-11-21T10:00:00Z");
const neverAborted = new AbortController().signal;

/** Lets every promise that is ready go on. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve));

describe("a held clock (rule KEEP-9)", () => {
  test("stands still until it is moved, and moves by exactly that much", async () => {
    const clock = createFakeClock(startAt);
    await flushPromises();
    expect(clock.now()).toEqual(startAt);
    clock.advance(1500);
    expect(clock.now()).toEqual(new Date("2026-11-21T10:00:01.500Z"));
    expect(afterMs(clock, 500)).toEqual(new Date("2026-11-21T10:00:02Z"));
  });

  test("wakes in the order of time, not of asking, whoever waited for an instant now reached", async () => {
    const clock = createFakeClock(startAt);
    const wakeOrder: number[] = [];
    for (const waitMs of [300, 100, 200, 301]) {
      void clock
        .sleepUntil(afterMs(clock, waitMs), neverAborted)
        .then(() => wakeOrder.push(waitMs));
    }
    clock.advance(99);
    await flushPromises();
    expect(wakeOrder).toEqual([]);
    clock.advance(201);
    await flushPromises();
    expect(wakeOrder).toEqual([100, 200, 300]);
    clock.advance(1);
    await flushPromises();
    expect(wakeOrder).toEqual([100, 200, 300, 301]);
  });

  test("does not wait for an instant that is reached, past, or none", async () => {
    const clock = createFakeClock(startAt);
    await clock.sleepUntil(startAt, neverAborted);
    await clock.sleepUntil(new Date(0), neverAborted);
    await clock.sleepUntil(new Date(Number.NaN), neverAborted);
  });

  test("given an abort, before or while waiting, ends the wait without an error", async () => {
    const clock = createFakeClock(startAt);
    const controller = new AbortController();
    const sleeping = clock.sleepUntil(afterMs(clock, 1000), controller.signal);
    controller.abort();
    await sleeping;
    await clock.sleepUntil(afterMs(clock, 1000), controller.signal);
    expect(clock.now()).toEqual(startAt);
  });

  test("hands out instants that nobody can move it by", () => {
    const clock = createFakeClock(startAt);
    clock.now().setFullYear(1970);
    expect(clock.now()).toEqual(startAt);
  });
});

/* oxlint-disable reliability/no-fixed-wait -- what waits here is what is tested */
describe("the system clock", () => {
  test("waits until the instant is reached and not less", async () => {
    const wakeAt = afterMs(systemClock, 30);
    await systemClock.sleepUntil(wakeAt, neverAborted);
    expect(Date.now()).toBeGreaterThanOrEqual(wakeAt.getTime());
  });

  test("given an abort while it waits for an instant years ahead, ends at once", async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleepUntil(afterMs(systemClock, 2 ** 40), controller.signal);
    await flushPromises();
    controller.abort();
    await sleeping;
  });

  test("does not wait for an instant that is past, or none", async () => {
    await systemClock.sleepUntil(new Date(0), neverAborted);
    await systemClock.sleepUntil(new Date(Number.NaN), neverAborted);
  });
});

describe("a clock that is set back", () => {
  const hourMs = 3_600_000;

  test("makes no wait longer that was begun before", async () => {
    const sleeping = systemClock.sleepUntil(afterMs(systemClock, 20), neverAborted);
    const realNow = Date.now;
    Date.now = () => realNow() - hourMs;
    try {
      await sleeping;
    } finally {
      Date.now = realNow;
    }
  });

  test("held by a test does the same, and its elapsed time goes on", async () => {
    const clock = createFakeClock(startAt);
    let hasEnded = false;
    void clock.sleepUntil(afterMs(clock, 100), neverAborted).then(() => (hasEnded = true));
    clock.setBack(hourMs);
    expect(clock.now()).toEqual(new Date(startAt.getTime() - hourMs));
    clock.advance(100);
    await flushPromises();
    expect([hasEnded, clock.elapsedMs()]).toEqual([true, 100]);
  });
});
