/** The only source of time (rule KEEP-9). */
export type Clock = {
  /** Returns the current time. */
  now(): Date;
  /**
   * Returns the milliseconds since an arbitrary start. Unlike `now`, it never goes back. Use it for
   * durations.
   */
  elapsedMs(): number;
  /**
   * Waits until the instant. If the signal aborts, the wait ends early without an error. The
   * duration is fixed when the wait starts, so it does not become longer when the machine's clock
   * is set back.
   */
  sleepUntil(instant: Date, signal?: AbortSignal): Promise<void>;
};

const timeoutMsMax = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  sleepUntil: async (instant, signal) => {
    const deadlineMs = performance.now() + instant.getTime() - Date.now();
    for (;;) {
      const waitMs = deadlineMs - performance.now();
      // The negation is necessary: with an invalid date, `waitMs` is NaN, and the wait must end
      // instead of looping forever.
      if (signal?.aborted === true || !(waitMs > 0)) return;
      await sleep(Math.min(waitMs, timeoutMsMax), signal);
    }
  },
};

const sleep = (durationMs: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal?.addEventListener("abort", finish, { once: true });
  });

export type FakeClock = Clock & {
  /** Moves time forward and wakes all due sleepers, earliest first. */
  advance(byMs: number): void;
  /**
   * Sets the wall clock back, as when a machine corrects a wrong clock. Does not wake any sleepers.
   */
  setBack(byMs: number): void;
};

/** Creates a clock for tests. It stands still until it is advanced. */
export const createFakeClock = (startAt: Date): FakeClock => {
  let nowMs = startAt.getTime();
  let elapsedMs = 0;
  const sleepers = new Set<{ wakeAtMs: number; wake: () => void }>();
  return {
    now: () => new Date(nowMs),
    elapsedMs: () => elapsedMs,
    sleepUntil: (instant, signal) => {
      if (signal?.aborted === true || !(instant.getTime() > nowMs)) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { wakeAtMs: elapsedMs + instant.getTime() - nowMs, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
      });
    },
    advance: (byMs) => {
      nowMs += byMs;
      elapsedMs += byMs;
      const dueSleepers = [...sleepers].filter((sleeper) => sleeper.wakeAtMs <= elapsedMs);
      for (const sleeper of dueSleepers.sort((a, b) => a.wakeAtMs - b.wakeAtMs)) sleeper.wake();
    },
    setBack: (byMs) => {
      nowMs -= byMs;
    },
  };
};

/** Returns the instant `ms` milliseconds from the clock's current time. */
export const afterMs = (clock: Clock, ms: number): Date => new Date(clock.now().getTime() + ms);
