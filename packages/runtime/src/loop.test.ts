import { afterEach, describe, expect, test } from "@jest/globals";
import { createFakeClock } from "./clock.ts";
import { createLog } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";

const startAt = new Date("2026-11-21T10:00:00Z");

/** Lets every promise that is ready go on. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve));

type Run = (signal: AbortSignal) => Promise<boolean | Date | void>;

let loop: Loop | undefined;
afterEach(() => loop?.stop());

/** A loop that waits one second after each run, on a clock that the test holds. */
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

/** A run that lasts until the test ends it. */
const createLatch = () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release, released };
};

describe("a loop", () => {
  test("runs at once, and again after each wait", async () => {
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

  test("given true, runs again without a wait", async () => {
    let remainingRuns = 3;
    const { getRunCount } = startTestLoop(async () => {
      remainingRuns -= 1;
      return remainingRuns > 0;
    });
    await flushPromises();
    expect(getRunCount()).toBe(3);
  });

  test("given an instant, runs then; but never later than its own wait", async () => {
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

  test("woken while it waits, runs at once; woken many times, still once", async () => {
    const { loop, getRunCount } = startTestLoop(async () => {});
    await flushPromises();
    loop.wake();
    loop.wake();
    loop.wake();
    await flushPromises();
    expect(getRunCount()).toBe(2);
  });

  test("woken while it runs, runs once more after that", async () => {
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

  test("never runs twice at a time", async () => {
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
  test("waits twice as long after each failure, up to the most, and as usual after a success", async () => {
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

  test("woken during the run that failed, waits all the same; woken after it, tries at once", async () => {
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
  test("waits for the run under way, tells it by its signal, and starts no other", async () => {
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

  test("ends a wait at once, a wait after a failure too", async () => {
    const { loop: idleLoop } = startTestLoop(async () => {});
    const { loop: failingLoop } = startTestLoop(() => Promise.reject(new Error("broken")));
    await flushPromises();
    await idleLoop.stop();
    await failingLoop.stop();
    await failingLoop.stop();
  });
});
