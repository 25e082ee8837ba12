import { afterEach, describe, expect, test } from "@jest/globals";
import { createFakeClock } from "./clock.ts";
import { createLog } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";

const startAt = new Date("2026-11-21T10:00:00Z");

/** Waits until all pending microtasks and immediates have run. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve));

type Run = (signal: AbortSignal) => Promise<boolean | Date | void>;

let loop: Loop | undefined;
afterEach(() => loop?.stop());

/** Starts a loop on a fake clock that pauses one second after each run. */
const startTestLoop = (run: Run, options: { backoffMsMax?: number } = {}) => {
  const clock = createFakeClock(startAt);
  const written: string[] = [];
  const log = createLog(
    { service: "test", level: "info" },
    { write: (text) => void written.push(text) },
  );
  let runCount = 0;
  const startedLoop = startLoop({
    name: "job",
    clock,
    log,
    waitMs: 1000,
    ...options,
    run: (signal) => {
      runCount += 1;
      return run(signal);
    },
  });
  loop = startedLoop;
  return { clock, written, loop: startedLoop, getRunCount: () => runCount };
};

/** Creates a latch that lets a run last until the test releases it. */
const createLatch = () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release, released };
};

describe("a loop", () => {
  test("runs immediately, and again after each pause", async () => {
    const { clock, getRunCount } = startTestLoop(async () => {});
    await flushPromises();
    expect(getRunCount()).toBe(1);
    clock.advance(999);
    await flushPromises();
    expect(getRunCount()).toBe(1);
    clock.advance(1);
    await flushPromises();
    expect(getRunCount()).toBe(2);
  });

  test("runs again without a pause after a run returns true", async () => {
    let remainingRuns = 3;
    const { getRunCount } = startTestLoop(async () => {
      remainingRuns -= 1;
      return remainingRuns > 0;
    });
    await flushPromises();
    expect(getRunCount()).toBe(3);
  });

  test("runs at the instant that a run returns, but never later than after its own pause", async () => {
    const results = [new Date(startAt.getTime() + 10), new Date(startAt.getTime() + 60_000)];
    const { clock, getRunCount } = startTestLoop(async () => results.shift());
    await flushPromises();
    clock.advance(10);
    await flushPromises();
    expect(getRunCount()).toBe(2);
    clock.advance(1000);
    await flushPromises();
    expect(getRunCount()).toBe(3);
  });

  test("runs immediately when it is woken during a pause, and only once for many wake-ups", async () => {
    const { loop, getRunCount } = startTestLoop(async () => {});
    await flushPromises();
    loop.wake();
    loop.wake();
    loop.wake();
    await flushPromises();
    expect(getRunCount()).toBe(2);
  });

  test("runs again after a run during which it was woken", async () => {
    const latch = createLatch();
    const { loop, getRunCount } = startTestLoop(() => latch.released);
    loop.wake();
    loop.wake();
    await flushPromises();
    expect(getRunCount()).toBe(1);
    latch.release();
    await flushPromises();
    expect(getRunCount()).toBe(2);
  });

  test("never runs twice concurrently", async () => {
    let concurrency = 0;
    let concurrencyMax = 0;
    const { loop } = startTestLoop(async () => {
      concurrency += 1;
      concurrencyMax = Math.max(concurrencyMax, concurrency);
      await flushPromises();
      concurrency -= 1;
    });
    for (let wakeCount = 0; wakeCount < 20; wakeCount += 1) {
      loop.wake();
      await flushPromises();
    }
    expect(concurrencyMax).toBe(1);
  });
});

describe("a loop whose run fails", () => {
  test("doubles the pause after each failure up to the maximum, and resets it after a success", async () => {
    let isBroken = true;
    const { clock, getRunCount, written } = startTestLoop(
      async () => {
        if (isBroken) throw new Error("broken");
      },
      { backoffMsMax: 5000 },
    );
    for (const waitMs of [2000, 4000, 5000, 5000]) {
      await flushPromises();
      const runCountBefore = getRunCount();
      clock.advance(waitMs - 1);
      await flushPromises();
      expect(getRunCount()).toBe(runCountBefore);
      clock.advance(1);
      await flushPromises();
      expect(getRunCount()).toBe(runCountBefore + 1);
    }
    expect(written).toHaveLength(5);
    expect(written[4]).toContain('"failures":5');
    isBroken = false;
    clock.advance(5000);
    await flushPromises();
    isBroken = true;
    clock.advance(1000);
    await flushPromises();
    expect(written[5]).toContain('"failures":1');
    const runCountBefore = getRunCount();
    clock.advance(2000);
    await flushPromises();
    expect(getRunCount()).toBe(runCountBefore + 1);
  });

  test("pauses after a failure despite a wake-up during the run, and runs immediately for one after it", async () => {
    const latch = createLatch();
    const { loop, getRunCount } = startTestLoop(async () => {
      await latch.released;
      throw new Error("broken");
    });
    loop.wake();
    latch.release();
    await flushPromises();
    expect(getRunCount()).toBe(1);
    loop.wake();
    await flushPromises();
    expect(getRunCount()).toBe(2);
  });
});

describe("stopping a loop", () => {
  test("waits for the current run, aborts its signal and starts no other run", async () => {
    const latch = createLatch();
    const signals: AbortSignal[] = [];
    const { loop, getRunCount } = startTestLoop((signal) => {
      signals.push(signal);
      return latch.released;
    });
    const stopping = loop.stop();
    loop.wake();
    await flushPromises();
    expect(signals[0]?.aborted).toBe(true);
    expect(await Promise.race([stopping, flushPromises().then(() => "still running")])).toBe(
      "still running",
    );
    latch.release();
    await stopping;
    expect(getRunCount()).toBe(1);
  });

  test("ends a pause immediately, including a pause after a failure", async () => {
    const { loop: idleLoop } = startTestLoop(async () => {});
    const { loop: failingLoop } = startTestLoop(() => Promise.reject(new Error("broken")));
    await flushPromises();
    await idleLoop.stop();
    await failingLoop.stop();
    await failingLoop.stop();
  });
});
