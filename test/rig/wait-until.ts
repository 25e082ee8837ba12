import { waitUntil as wait } from "@payment-links/runtime/testing";

const pollMs = 20;

/** Waits as every test does, for longer and less often: whole systems are slower, and asked by HTTP. */
export const waitUntil = <Found>(
  what: string,
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  limitMs = 20_000,
): Promise<Found> => wait(what, condition, limitMs, pollMs);
