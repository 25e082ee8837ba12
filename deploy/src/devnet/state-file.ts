import { access, readFile, rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const stateIntervalSeconds = 10;

/**
 * Returns the anvil arguments for the state file. anvil writes a draft periodically and on exit,
 * and a complete draft replaces the file. If anvil is killed while it writes, only the changes
 * since the last draft are lost.
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

/** Returns the path of the file with the process id of the node that writes the state. */
export const getPidFile = (file: string): string => `${file}.pid`;

const exitWaitMsMax = 15_000;
const exitPollMs = 50;

/**
 * Waits until the node of a killed process has written its state and exited. Until then, the draft
 * may be from the middle of a block.
 */
export const waitForPreviousProcess = async (file: string): Promise<void> => {
  const pid = Number(await readFile(getPidFile(file), "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0) return;
  // The wait is limited, because the id may have been reused by another process.
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

/** Replaces the file with the last draft if the draft is complete. */
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
