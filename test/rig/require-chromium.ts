import { describe, test } from "@jest/globals";
import { getChromiumUrl } from "./chromium-url.ts";

/**
 * Prepares a test file that needs a real browser. Its tests are skipped only if no Chromium could
 * be installed, and their titles say so.
 */
export const requireChromium = () => {
  const isAvailable = getChromiumUrl() !== undefined;
  const describeOrSkip = (title: string, body: () => void): void =>
    isAvailable ? describe(title, body) : describe.skip(`${title} (no chromium)`, body);
  return { isAvailable, describe: describeOrSkip, test };
};
