import { access, readFile, rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const stateIntervalSeconds = 10;

/**
 * Where a chain's state is kept over restarts. The node writes a draft, now and then and when it
 * ends. A draft that is whole replaces the file, so a kill in the middle of writing costs only what
 * came since the last one, and never the chain.
 */
export const getStateArgs = async (file: string): Promise<string[]> => {
  const dumpArgs = [
    "--dump-state",
    getDraftFile(file),
    "--state-interval",
    String(stateIntervalSeconds),
  ];
  return (await fileExists(file)) ? [...dumpArgs, "--load-state", file] : dumpArgs;
};

/** Where the id of the process that writes the state is kept. */
export const getPidFile = (file: string): string => `${file}.pid`;

const exitWaitMsMax = 15_000;
const exitPollMs = 50;

/**
 * Waits until the node that a killed process left behind has written its state and ended: what it
 * had written before may have been taken in the middle of a block.
 */
export const waitForPreviousProcess = async (file: string): Promise<void> => {
  const pid = Number(await readFile(getPidFile(file), "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0) return;
  // It waits no longer than that: the number may by now belong to another process.
  const deadlineMs = performance.now() + exitWaitMsMax;
  while (isRunning(pid) && performance.now() < deadlineMs) await sleep(exitPollMs);
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Replaces the file by the last draft, if that is whole. */
export const promoteDraft = async (file: string): Promise<void> => {
  const draft = getDraftFile(file);
  if (await isCompleteJson(draft)) await rename(draft, file);
};

const getDraftFile = (file: string): string => `${file}.draft`;

const fileExists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const isCompleteJson = async (file: string): Promise<boolean> => {
  try {
    JSON.parse(await readFile(file, "utf8"));
    return true;
  } catch {
    return false;
  }
};
