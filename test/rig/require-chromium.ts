import { describe, test } from "@jest/globals";
import { isSoakRun } from "@payment-links/runtime/testing/property-runs";
import { getChromiumUrl } from "./chromium-url.ts";

/**
 * Prepares a test file that needs a real browser. The tests are skipped only if Chromium could not
 * be installed. Their titles then say so. Only `npm run test:all` runs the tests of `describeSoak`.
 */
export const requireChromium = () => {
  const isAvailable = getChromiumUrl() !== undefined;
  const describeOrSkip = (title: string, body: () => void): void =>
    isAvailable ? describe(title, body) : describe.skip(`${title} (no chromium)`, body);
  const describeSoak = (title: string, body: () => void): void => {
    if (isSoakRun) describeOrSkip(title, body);
  };
  return { isAvailable, describe: describeOrSkip, describeSoak, test };
};

/** Returns the cases that `npm test` runs. `npm run test:all` runs all of them. */
export const sampleCases = <Case>(
  cases: readonly Case[],
  isSampled: (sample: Case, index: number) => boolean,
): Case[] => cases.filter((sample, index) => isSoakRun || isSampled(sample, index));
