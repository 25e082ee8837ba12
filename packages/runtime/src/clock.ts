/** The only source of time (rule KEEP-9). */
export type Clock = {
  /** The present instant. */
  now(): Date;
  /** Milliseconds since a moment of its own: unlike `now`, it never goes back. For pauses. */
  elapsedMs(): number;
  /**
   * Waits until the instant is reached; ends early, without an error, when the signal aborts. How long
   * that is, is settled at the call: a machine's clock that is set back meanwhile makes it no longer.
   */
  sleepUntil(instant: Date, signal: AbortSignal): Promise<void>;
};

const timeoutMsMax = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  sleepUntil: async (instant, signal) => {
    const deadlineMs = performance.now() + instant.getTime() - Date.now();
    while (!signal.aborted) {
      const waitMs = deadlineMs - performance.now();
      // Written this way round, an invalid date ends the wait instead of spinning.
      if (!(waitMs > 0)) return;
      await sleep(Math.min(waitMs, timeoutMsMax), signal);
    }
  },
};

const sleep = (durationMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal.addEventListener("abort", finish, { once: true });
  });

export type FakeClock = Clock & {
  /** Moves time forward and wakes whoever waited for an instant now reached, the earliest first. */
  advance(byMs: number): void;
  /** Sets the time of day back, as of a machine whose clock was wrong. Nobody is woken. */
  setBack(byMs: number): void;
};

/** A clock for tests: it stands still until it is moved. */
export const createFakeClock = (startAt: Date): FakeClock => {
  let nowMs = startAt.getTime();
  let elapsedMs = 0;
  const sleepers = new Set<{ wakeAtMs: number; wake: () => void }>();
  return {
    now: () => new Date(nowMs),
    elapsedMs: () => elapsedMs,
    sleepUntil: (instant, signal) => {
      if (signal.aborted || !(instant.getTime() > nowMs)) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(sleeper);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { wakeAtMs: elapsedMs + instant.getTime() - nowMs, wake };
        sleepers.add(sleeper);
        signal.addEventListener("abort", wake, { once: true });
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

/** The instant some milliseconds after the clock's now. */
export const afterMs = (clock: Clock, ms: number): Date => new Date(clock.now().getTime() + ms);
