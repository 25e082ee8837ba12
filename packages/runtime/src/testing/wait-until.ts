import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until a condition answers something other than false or undefined, and answers that. Fails after
 * the limit, in real time, saying what did not come.
 */
export const waitUntil = async <Found>(
  what: string,
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  limitMs = 10_000,
  pollMs = 5,
): Promise<Found> => {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endsAt) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(pollMs);
  }
};
