import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** An orderly end takes at most half a minute on a quiet machine. */
const endMsMax = 300_000;
/** How long the last output may take. A process that the child left behind may hold the streams. */
const outputMsMax = 1_000;

/** Returns true until the process has ended. */
export const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;

/**
 * Sends a signal to a child process, and waits for its end and its last output; kills a process that
 * hangs. Returns the exit code, or null if a signal ended the process.
 */
export const endChild = async (
  child: ChildProcess,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<number | null> => {
  if (isRunning(child)) {
    const ended = once(child, "exit");
    const killer = setTimeout(() => child.kill("SIGKILL"), endMsMax);
    child.kill(signal);
    await ended;
    clearTimeout(killer);
  }
  await readLastOutput(child);
  return child.exitCode;
};

const readLastOutput = async (child: ChildProcess): Promise<void> => {
  const open = [child.stdout, child.stderr].filter((stream) => stream !== null && !stream.closed);
  const closed = Promise.all(open.map(async (stream) => stream && once(stream, "close")));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, outputMsMax)));
  await Promise.race([closed, late]);
  clearTimeout(timer);
};
