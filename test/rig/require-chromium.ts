import { describe, test } from "@jest/globals";
import { getChromiumUrl } from "./chromium-url.ts";

/**
 * Prepares a test file that needs a real browser. The tests are skipped only if Chromium could not
 * be installed. Their titles then say so.
 */
export const requireChromium = () => {
  const isAvailable = getChromiumUrl() !== undefined;
  const describeOrSkip = (title: string, body: () => void): void =>
    isAvailable ? describe(title, body) : describe.skip(`${title} (no chromium)`, body);
  return { isAvailable, describe: describeOrSkip, test };
};
