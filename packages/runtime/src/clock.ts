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
  until(instant: Date, signal: AbortSignal): Promise<void>;
};

const timeoutMsMax = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  until: async (instant, signal) => {
    const endsAtMs = performance.now() + instant.getTime() - Date.now();
    while (!signal.aborted) {
      const waitMs = endsAtMs - performance.now();
      // Written this way round, an invalid date ends the wait instead of spinning.
      if (!(waitMs > 0)) return;
      await wait(Math.min(waitMs, timeoutMsMax), signal);
    }
  },
};

const wait = (waitMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, waitMs);
    signal.addEventListener("abort", end, { once: true });
  });

export type HeldClock = Clock & {
  /** Moves time forward and wakes whoever waited for an instant now reached, the earliest first. */
  advance(byMs: number): void;
  /** Sets the time of day back, as of a machine whose clock was wrong. Nobody is woken. */
  setBack(byMs: number): void;
};

/** A clock for tests: it stands still until it is moved. */
export const createHeldClock = (start: Date): HeldClock => {
  let nowMs = start.getTime();
  let elapsedMs = 0;
  const waiting = new Set<{ atMs: number; wake: () => void }>();
  return {
    now: () => new Date(nowMs),
    elapsedMs: () => elapsedMs,
    until: (instant, signal) => {
      if (signal.aborted || !(instant.getTime() > nowMs)) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          waiting.delete(sleeper);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { atMs: elapsedMs + instant.getTime() - nowMs, wake };
        waiting.add(sleeper);
        signal.addEventListener("abort", wake, { once: true });
      });
    },
    advance: (byMs) => {
      nowMs += byMs;
      elapsedMs += byMs;
      const woken = [...waiting].filter((sleeper) => sleeper.atMs <= elapsedMs);
      for (const sleeper of woken.sort((a, b) => a.atMs - b.atMs)) sleeper.wake();
    },
    setBack: (byMs) => {
      nowMs -= byMs;
    },
  };
};

/** The instant some milliseconds after the clock's now. */
export const afterMs = (clock: Clock, ms: number): Date => new Date(clock.now().getTime() + ms);
