import { access, readFile, rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const writeEverySeconds = 10;

/**
 * Where a chain's state is kept over restarts. The node writes a draft, now and then and when it
 * ends. A draft that is whole replaces the file, so a kill in the middle of writing costs only what
 * came since the last one, and never the chain.
 */
export const stateFlags = async (file: string): Promise<string[]> => {
  const write = ["--dump-state", draftOf(file), "--state-interval", String(writeEverySeconds)];
  return (await isThere(file)) ? [...write, "--load-state", file] : write;
};

/** Where the id of the process that writes the state is kept. */
export const pidFileOf = (file: string): string => `${file}.pid`;

const endingMsMax = 15_000;
const endingPollMs = 50;

/**
 * Waits until the node that a killed process left behind has written its state and ended: what it
 * had written before may have been taken in the middle of a block.
 */
export const awaitPredecessor = async (file: string): Promise<void> => {
  const pid = Number(await readFile(pidFileOf(file), "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0) return;
  // It waits no longer than that: the number may by now belong to another process.
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

/** Replaces the file by the last draft, if that is whole. */
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
