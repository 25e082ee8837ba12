import { setTimeout as sleep } from "node:timers/promises";

const pollMsMax = 500;

/**
 * Waits until a condition answers something other than false or undefined, and answers that. It asks
 * less often the longer it waits. Fails after the limit, in real time, saying what did not come.
 */
export const waitUntil = async <Found>(
  what: string | (() => string),
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  limitMs = 180_000,
): Promise<Found> => {
  const startedAt = performance.now();
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > limitMs) {
      throw new Error(`not within ${limitMs} ms: ${typeof what === "string" ? what : what()}`);
    }
    await sleep(Math.min(5 + waitedMs / 20, pollMsMax));
  }
};
