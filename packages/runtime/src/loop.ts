import { backoffMs } from "./backoff.ts";
import { type Clock, afterMs } from "./clock.ts";
import type { Log } from "./log.ts";

/** A background job that runs repeatedly until it is stopped. */
export type Loop = {
  /** Ends the current pause and runs the job as soon as possible. */
  wake(): void;
  /** Waits for the current run to end. No other run starts. */
  stop(): Promise<void>;
};

type LoopOptions = {
  name: string;
  clock: Clock;
  log: Log;
  /** The pause after a run. After failures, the pause doubles each time, up to `backoffMsMax`. */
  waitMs: number;
  backoffMsMax?: number;
  /**
   * Performs one run. Returns `true` to run again immediately, or the time at which work is due if
   * it is known.
   */
  run: (signal: AbortSignal) => Promise<boolean | Date | void>;
};

/**
 * Starts a background job. If a run fails, logs the error and retries after a pause that grows with
 * each failure.
 */
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
        log.error({ err: error, loop: name, failures }, "background job failed, retrying");
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
      // An explicit reason is cheaper, because no exception with a stack trace is created.
      sleepController.abort("woken");
    },
    stop: () => {
      stopController.abort("stopped");
      sleepController.abort("stopped");
      return finished;
    },
  };
};
