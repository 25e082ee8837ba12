import { afterEach, describe, expect, test } from "@jest/globals";
import { createHeldClock } from "./clock.ts";
import { openLog } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";

const start = new Date("2026-11-21T10:00:00Z");

/** Lets every promise that is ready go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

type Run = (signal: AbortSignal) => Promise<boolean | Date | void>;

let loop: Loop | undefined;
afterEach(() => loop?.stop());

/** A loop that waits one second after each run, on a clock that the test holds. */
const begin = (run: Run, more: { failedWaitMsMax?: number } = {}) => {
  const clock = createHeldClock(start);
  const written: string[] = [];
  const log = openLog(
    { service: "test", level: "info" },
    { write: (text) => void written.push(text) },
  );
  let runs = 0;
  const started = startLoop({
    name: "job",
    clock,
    log,
    waitMs: 1000,
    ...more,
    run: (signal) => {
      runs += 1;
      return run(signal);
    },
  });
  loop = started;
  return { clock, written, loop: started, runs: () => runs };
};

/** A run that lasts until the test ends it. */
const createGate = () => {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
};

describe("a loop", () => {
  test("runs at once, and again after each wait", async () => {
    const { clock, runs } = begin(async () => {});
    await settle();
    expect(runs()).toBe(1);
    clock.advance(999);
    await settle();
    expect(runs()).toBe(1);
    clock.advance(1);
    await settle();
    expect(runs()).toBe(2);
  });

  test("given true, runs again without a wait", async () => {
    let left = 3;
    const { runs } = begin(async () => {
      left -= 1;
      return left > 0;
    });
    await settle();
    expect(runs()).toBe(3);
  });

  test("given an instant, runs then; but never later than its own wait", async () => {
    const answers = [new Date(start.getTime() + 10), new Date(start.getTime() + 60_000)];
    const { clock, runs } = begin(async () => answers.shift());
    await settle();
    clock.advance(10);
    await settle();
    expect(runs()).toBe(2);
    clock.advance(1000);
    await settle();
    expect(runs()).toBe(3);
  });

  test("woken while it waits, runs at once; woken many times, still once", async () => {
    const { loop, runs } = begin(async () => {});
    await settle();
    loop.wake();
    loop.wake();
    loop.wake();
    await settle();
    expect(runs()).toBe(2);
  });

  test("woken while it runs, runs once more after that", async () => {
    const gate = createGate();
    const { loop, runs } = begin(() => gate.passed);
    loop.wake();
    loop.wake();
    await settle();
    expect(runs()).toBe(1);
    gate.open();
    await settle();
    expect(runs()).toBe(2);
  });

  test("never runs twice at a time", async () => {
    let running = 0;
    let most = 0;
    const { loop } = begin(async () => {
      running += 1;
      most = Math.max(most, running);
      await settle();
      running -= 1;
    });
    for (let woken = 0; woken < 20; woken += 1) {
      loop.wake();
      await settle();
    }
    expect(most).toBe(1);
  });
});

describe("a loop whose run fails", () => {
  test("waits twice as long after each failure, up to the most, and as usual after a success", async () => {
    let isBroken = true;
    const { clock, runs, written } = begin(
      async () => {
        if (isBroken) throw new Error("broken");
      },
      { failedWaitMsMax: 5000 },
    );
    for (const waitMs of [2000, 4000, 5000, 5000]) {
      await settle();
      const before = runs();
      clock.advance(waitMs - 1);
      await settle();
      expect(runs()).toBe(before);
      clock.advance(1);
      await settle();
      expect(runs()).toBe(before + 1);
    }
    expect(written).toHaveLength(5);
    expect(written[4]).toContain('"failures":5');
    isBroken = false;
    clock.advance(5000);
    await settle();
    isBroken = true;
    clock.advance(1000);
    await settle();
    expect(written[5]).toContain('"failures":1');
    const before = runs();
    clock.advance(2000);
    await settle();
    expect(runs()).toBe(before + 1);
  });

  test("woken during the run that failed, waits all the same; woken after it, tries at once", async () => {
    const gate = createGate();
    const { loop, runs } = begin(async () => {
      await gate.passed;
      throw new Error("broken");
    });
    loop.wake();
    gate.open();
    await settle();
    expect(runs()).toBe(1);
    loop.wake();
    await settle();
    expect(runs()).toBe(2);
  });
});

describe("stopping a loop", () => {
  test("waits for the run under way, tells it by its signal, and starts no other", async () => {
    const gate = createGate();
    const signals: AbortSignal[] = [];
    const { loop, runs } = begin((signal) => {
      signals.push(signal);
      return gate.passed;
    });
    const stopping = loop.stop();
    loop.wake();
    await settle();
    expect(signals[0]?.aborted).toBe(true);
    expect(await Promise.race([stopping, settle().then(() => "still running")])).toBe(
      "still running",
    );
    gate.open();
    await stopping;
    expect(runs()).toBe(1);
  });

  test("ends a wait at once, a wait after a failure too", async () => {
    const { loop: idle } = begin(async () => {});
    const { loop: broken } = begin(() => Promise.reject(new Error("broken")));
    await settle();
    await idle.stop();
    await broken.stop();
    await broken.stop();
  });
});
