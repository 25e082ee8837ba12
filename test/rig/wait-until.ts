import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 20;

/** Waits until a condition answers something true-ish, and answers that; fails after the limit. */
export const waitUntil = async <Found>(
  what: string,
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  limitMs = 20_000,
): Promise<Found> => {
  const endsAt = Date.now() + limitMs;
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > endsAt) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(pollMs);
  }
};
