import type { Log } from "./log.ts";

type StopStep = { name: string; stop: () => Promise<void> | void };

/** Collects stop steps and runs them in the reverse order of the start. */
export type StopList = {
  add(name: string, stop: StopStep["stop"]): void;
  /** Runs all steps once. Logs a step that fails, and continues with the others. */
  stopAll(log: Log): Promise<void>;
  /** Returns whether the stop has started. */
  isStopping(): boolean;
};

/** Creates an empty list of stop steps. */
export const createStopList = (): StopList => {
  const steps: StopStep[] = [];
  let stopPromise: Promise<void> | undefined;
  const runSteps = async (log: Log) => {
    for (const step of steps.reverse()) {
      try {
        await step.stop();
      } catch (error) {
        log.error({ err: error, step: step.name }, "shutdown step failed");
      }
    }
  };
  return {
    add: (name, stop) => void steps.push({ name, stop }),
    stopAll: (log) => (stopPromise ??= runSteps(log)),
    isStopping: () => stopPromise !== undefined,
  };
};

const forcedExitMs = 25_000;
/** One Ctrl-C arrives twice: from the terminal, and forwarded by npm. */
const duplicateSignalMs = 1_000;

/**
 * Stops in order on SIGTERM or SIGINT and exits with code 0. Exits with code 1 on a second signal,
 * or if the stop takes longer than `drainMsMax` plus 25 s. A forced exit is safe, because a crash
 * at any line loses no data.
 */
export const stopOnSignal = (stopList: StopList, log: Log, drainMsMax = 0): void => {
  let stoppingSinceMs: number | undefined;
  const stop = (signal: string) => {
    const nowMs = performance.now();
    if (stoppingSinceMs !== undefined) {
      if (nowMs - stoppingSinceMs > duplicateSignalMs) process.exit(1);
      return;
    }
    stoppingSinceMs = nowMs;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), drainMsMax + forcedExitMs).unref();
    void stopList.stopAll(log).then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
};

/**
 * Ends the process with a fatal log line on an uncaught error, because its state can no longer be
 * trusted.
 */
export const exitOnUncaughtError = (log: Log): void => {
  const exitWithError = (error: unknown) => {
    log.fatal({ err: error }, "uncaught error, exiting");
    process.exit(1);
  };
  process.on("uncaughtException", exitWithError);
  process.on("unhandledRejection", exitWithError);
};
