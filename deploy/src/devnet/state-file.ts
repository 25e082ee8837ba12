import { access, readFile, rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const writeEverySeconds = 10;

/**
 * Where a chain's state is kept over restarts. The node writes a draft, now and then and when it
 * ends; a draft that is whole takes the file's place, so that a kill in the middle of writing costs
 * what came since the last one and never the chain.
 */
export const stateFlags = async (file: string): Promise<string[]> => {
  const write = ["--dump-state", draftOf(file), "--state-interval", String(writeEverySeconds)];
  return (await isThere(file)) ? [...write, "--load-state", file] : write;
};

/** Where the id of the process is kept that writes the state. */
export const pidFileOf = (file: string): string => `${file}.pid`;

const endingMsMax = 15_000;
const endingPollMs = 50;

/**
 * Waits until the node that a killed process left behind has written its state and ended: what it
 * had written until then may have been taken in the middle of a block.
 */
export const awaitPredecessor = async (file: string): Promise<void> => {
  const pid = Number(await readFile(pidFileOf(file), "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0) return;
  // No longer than that: the number may by now be another process'.
  const endsAtMs = performance.now() + endingMsMax;
  while (isRunning(pid) && performance.now() < endsAtMs) await sleep(endingPollMs);
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Lets the last draft take the file's place, if it is whole. */
export const adoptDraft = async (file: string): Promise<void> => {
  const draft = draftOf(file);
  if (await isWhole(draft)) await rename(draft, file);
};

const draftOf = (file: string): string => `${file}.draft`;

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const isWhole = async (file: string): Promise<boolean> => {
  try {
    JSON.parse(await readFile(file, "utf8"));
    return true;
  } catch {
    return false;
  }
};
