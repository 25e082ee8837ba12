import type { Log } from "./log.ts";

type StopStep = { name: string; stop: () => Promise<void> | void };

/** Collects the steps of a shutdown and runs them in reverse order of startup. */
export type StopList = {
  add(name: string, stop: StopStep["stop"]): void;
  /** Runs all steps once. If a step fails, logs the error and continues with the other steps. */
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
/** One Ctrl-C can arrive twice, because the terminal sends it and npm forwards it. */
const duplicateSignalMs = 1_000;

/**
 * Runs an orderly shutdown on SIGTERM or SIGINT and exits with code 0. Exits with code 1 on a
 * second signal, or if the shutdown takes longer than `drainMsMax` plus 25 s. A forced exit is
 * safe, because no data is lost even if the process crashes.
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

/** Logs an uncaught error and exits, because the state of the process can no longer be trusted. */
export const exitOnUncaughtError = (log: Log): void => {
  const exitWithError = (error: unknown) => {
    log.fatal({ err: error }, "uncaught error, exiting");
    process.exit(1);
  };
  process.on("uncaughtException", exitWithError);
  process.on("unhandledRejection", exitWithError);
};
