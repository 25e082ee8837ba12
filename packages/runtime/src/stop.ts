import type { Log } from "./log.ts";

type StopStep = { name: string; stop: () => Promise<void> | void };

/** Collects what must be stopped, and stops it in the reverse order of its start. */
export type StopList = {
  add(name: string, stop: StopStep["stop"]): void;
  /** Stops everything once; a step that fails is logged and does not keep the others from stopping. */
  stopAll(log: Log): Promise<void>;
  /** Whether it was told to stop. */
  isStopping(): boolean;
};

/** Makes an empty list of things to stop. */
export const createStopList = (): StopList => {
  const steps: StopStep[] = [];
  let stopPromise: Promise<void> | undefined;
  const runSteps = async (log: Log) => {
    for (const step of steps.reverse()) {
      try {
        await step.stop();
      } catch (error) {
        log.error({ err: error, step: step.name }, "a step of the stop failed");
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
/** One Ctrl-C arrives twice: from the terminal, and passed on by npm. */
const duplicateSignalMs = 1_000;

/**
 * Runs until SIGTERM or SIGINT, then stops in order and exits 0. It exits 1 at a second signal, or
 * if the stop takes longer than `drainMsMax` and 25 s. That is safe, because a crash at any line
 * loses nothing.
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

/** Ends the process, loudly, on an error that nobody caught: its state can no longer be trusted. */
export const exitOnUncaughtError = (log: Log): void => {
  const exitWithError = (error: unknown) => {
    log.fatal({ err: error }, "an error was not caught; the process ends");
    process.exit(1);
  };
  process.on("uncaughtException", exitWithError);
  process.on("unhandledRejection", exitWithError);
};
