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
  /** How long to wait after a run; after a failed one the wait doubles up to `backoffMsMax`. */
  waitMs: number;
  backoffMsMax?: number;
  /** One run. Answer `true` to be run again at once, or the instant at which there is work again. */
  run: (signal: AbortSignal) => Promise<boolean | Date | void>;
};

/** Starts a background job. An error of a run is logged, and the job goes on after a growing wait. */
export const startLoop = (options: LoopOptions): Loop => {
  const { clock, log, name } = options;
  const stopController = new AbortController();
  let sleepController = new AbortController();
  let isWoken = false;
  const backoff = { initialMs: 2 * options.waitMs, maxMs: options.backoffMsMax ?? 10_000 };

  const sleep = async (wakeAt: Date) => {
    sleepController = new AbortController();
    if (isWoken || stopController.signal.aborted) return;
    await clock.sleepUntil(wakeAt, sleepController.signal);
  };

  const runUntilStopped = async () => {
    let failures = 0;
    while (!stopController.signal.aborted) {
      isWoken = false;
      try {
        const result = await options.run(stopController.signal);
        failures = 0;
        if (result === true) continue;
        const nextPollAt = afterMs(clock, options.waitMs);
        await sleep(result instanceof Date && result < nextPollAt ? result : nextPollAt);
      } catch (error) {
        failures += 1;
        log.error({ err: error, loop: name, failures }, "a background job failed; it goes on");
        isWoken = false;
        await sleep(afterMs(clock, backoffMs(failures, backoff)));
      }
    }
  };

  const finished = runUntilStopped();
  return {
    wake: () => {
      if (isWoken) return;
      isWoken = true;
      // A reason of our own avoids creating an exception with its stack.
      sleepController.abort("woken");
    },
    stop: () => {
      stopController.abort("stopped");
      sleepController.abort("stopped");
      return finished;
    },
  };
};
