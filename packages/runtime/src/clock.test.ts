import { describe, expect, test } from "@jest/globals";
import { afterMs, createFakeClock, systemClock } from "./clock.ts";

const startAt = new Date("2026-11-21T10:00:00Z");
const neverAborted = new AbortController().signal;

/** Waits until all pending microtasks and immediates have run. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve));

describe("the fake clock (rule KEEP-9)", () => {
  test("stands still until it is advanced, and moves by exactly that duration", async () => {
    const clock = createFakeClock(startAt);
    await flushPromises();
    expect(clock.now()).toEqual(startAt);
    clock.advance(1500);
    expect(clock.now()).toEqual(new Date("2026-11-21T10:00:01.500Z"));
    expect(afterMs(clock, 500)).toEqual(new Date("2026-11-21T10:00:02Z"));
  });

  test("wakes the due sleepers in the order of their instants", async () => {
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

  test("does not wait for an instant that is now, in the past, or invalid", async () => {
    const clock = createFakeClock(startAt);
    await clock.sleepUntil(startAt, neverAborted);
    await clock.sleepUntil(new Date(0), neverAborted);
    await clock.sleepUntil(new Date(Number.NaN), neverAborted);
  });

  test("ends the wait without an error when the signal aborts, before or during the wait", async () => {
    const clock = createFakeClock(startAt);
    const controller = new AbortController();
    const sleeping = clock.sleepUntil(afterMs(clock, 1000), controller.signal);
    controller.abort();
    await sleeping;
    await clock.sleepUntil(afterMs(clock, 1000), controller.signal);
    expect(clock.now()).toEqual(startAt);
  });

  test("returns dates whose mutation does not change the clock", () => {
    const clock = createFakeClock(startAt);
    clock.now().setFullYear(1970);
    expect(clock.now()).toEqual(startAt);
  });
});

/* oxlint-disable reliability/no-fixed-wait -- waiting is what these tests cover */
describe("the system clock", () => {
  test("waits until the instant is reached", async () => {
    const wakeAt = afterMs(systemClock, 30);
    await systemClock.sleepUntil(wakeAt, neverAborted);
    expect(Date.now()).toBeGreaterThanOrEqual(wakeAt.getTime());
  });

  test("ends the wait for an instant years ahead immediately when the signal aborts", async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleepUntil(afterMs(systemClock, 2 ** 40), controller.signal);
    await flushPromises();
    controller.abort();
    await sleeping;
  });

  test("does not wait for an instant that is in the past or invalid", async () => {
    await systemClock.sleepUntil(new Date(0), neverAborted);
    await systemClock.sleepUntil(new Date(Number.NaN), neverAborted);
  });
});

describe("a clock that is set back", () => {
  const hourMs = 3_600_000;

  test("does not prolong a wait that started earlier", async () => {
    const sleeping = systemClock.sleepUntil(afterMs(systemClock, 20), neverAborted);
    const realNow = Date.now;
    Date.now = () => realNow() - hourMs;
    try {
      await sleeping;
    } finally {
      Date.now = realNow;
    }
  });

  test("does not prolong a wait on the fake clock either, and keeps the elapsed time", async () => {
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
