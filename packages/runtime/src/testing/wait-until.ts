import { setTimeout as sleep } from "node:timers/promises";

const pollMsMax = 500;

/**
 * Polls a condition until it returns something other than false or undefined, and returns that
 * result. The poll interval grows over time. Throws an error with the description after `timeoutMs`
 * of real time.
 */
export const waitUntil = async <Result>(
  description: string | (() => string),
  condition: () => Promise<Result | undefined | false> | Result | undefined | false,
  timeoutMs = 180_000,
): Promise<Result> => {
  const startedAtMs = performance.now();
  for (;;) {
    const result = await condition();
    if (result !== undefined && result !== false) return result;
    const waitedMs = performance.now() - startedAtMs;
    if (waitedMs > timeoutMs) {
      throw new Error(
        `timed out after ${timeoutMs} ms: ${typeof description === "string" ? description : description()}`,
      );
    }
    await sleep(Math.min(5 + waitedMs / 20, pollMsMax));
  }
};
