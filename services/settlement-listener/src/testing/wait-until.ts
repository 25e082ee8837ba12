import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 10;
const limitMs = 10_000;

/** Waits until a condition holds; fails after ten seconds. */
export const waitUntil = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const endsAtMs = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > endsAtMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(pollMs);
  }
};
