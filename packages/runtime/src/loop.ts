import { backoffMs } from "./backoff.ts";
import { type Clock, afterMs } from "./clock.ts";
import type { Log } from "./log.ts";

/** A background job that runs again and again until it is stopped. */
export type Loop = {
  /** Runs the job as soon as it is free, whatever it waited for. */
  wake(): void;
  /** Lets the run under way end and starts no other one. */
  stop(): Promise<void>;
};

type LoopOptions = {
  name: string;
  clock: Clock;
  log: Log;
  /** How long to wait after a run; after a failed one the wait doubles up to `failedWaitMsMax`. */
  waitMs: number;
  failedWaitMsMax?: number;
  /** One run. Answer `true` to be run again at once, or the instant at which there is work again. */
  run: (signal: AbortSignal) => Promise<boolean | Date | void>;
};

/** Starts a background job. An error of a run is logged, and the job goes on after a growing wait. */
export const startLoop = (options: LoopOptions): Loop => {
  const { clock, log, name } = options;
  const stopping = new AbortController();
  let waiting = new AbortController();
  let isWoken = false;
  const backoff = { firstMs: 2 * options.waitMs, mostMs: options.failedWaitMsMax ?? 10_000 };

  const rest = async (until: Date) => {
    waiting = new AbortController();
    if (isWoken || stopping.signal.aborted) return;
    await clock.until(until, waiting.signal);
  };

  const work = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      isWoken = false;
      try {
        const next = await options.run(stopping.signal);
        failures = 0;
        if (next === true) continue;
        const poll = afterMs(clock, options.waitMs);
        await rest(next instanceof Date && next < poll ? next : poll);
      } catch (error) {
        failures += 1;
        log.error({ err: error, loop: name, failures }, "a background job failed; it goes on");
        isWoken = false;
        await rest(afterMs(clock, backoffMs(failures, backoff)));
      }
    }
  };

  const ended = work();
  return {
    wake: () => {
      if (isWoken) return;
      isWoken = true;
      // A reason of our own avoids creating an exception with its stack.
      waiting.abort("woken");
    },
    stop: () => {
      stopping.abort("stopped");
      waiting.abort("stopped");
      return ended;
    },
  };
};
