import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** On an idle machine, a graceful exit takes at most 30 s. */
const exitMsMax = 300_000;
/**
 * How long to wait for the last output. A process that the child has left behind may keep the
 * streams open.
 */
const outputMsMax = 1_000;

/** Returns whether the process is still running. */
export const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;

/**
 * Sends a signal to a child process and waits for its exit and its last output. Kills the process
 * if it hangs. Returns the exit code, or null if the process was terminated by a signal.
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
