import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** An orderly end takes at most half a minute on a quiet machine. */
const exitMsMax = 300_000;
/** How long the last output may take. A process that the child left behind may hold the streams. */
const outputMsMax = 1_000;

/** Returns true until the process has ended. */
export const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;

/**
 * Sends a signal to a child process, and waits for its end and its last output; kills a process that
 * hangs. Returns the exit code, or null if a signal ended the process.
 */
export const stopChild = async (
  child: ChildProcess,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<number | null> => {
  if (isRunning(child)) {
    const exited = once(child, "exit");
    const killTimer = setTimeout(() => child.kill("SIGKILL"), exitMsMax);
    child.kill(signal);
    await exited;
    clearTimeout(killTimer);
  }
  await drainOutput(child);
  return child.exitCode;
};

const drainOutput = async (child: ChildProcess): Promise<void> => {
  const openStreams = [child.stdout, child.stderr].filter(
    (stream) => stream !== null && !stream.closed,
  );
  const allClosed = Promise.all(openStreams.map(async (stream) => stream && once(stream, "close")));
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise((resolve) => (timer = setTimeout(resolve, outputMsMax)));
  await Promise.race([allClosed, timedOut]);
  clearTimeout(timer);
};
