import { describe, test } from "@jest/globals";
import { getChromiumUrl } from "./chromium-url.ts";

/**
 * For a test file in a real browser. Only where no Chromium could be brought are its tests skipped,
 * and their titles say so.
 */
export const requireChromium = () => {
  const isAvailable = getChromiumUrl() !== undefined;
  const describeOrSkip = (title: string, body: () => void): void =>
    isAvailable ? describe(title, body) : describe.skip(`${title} (no chromium)`, body);
  return { isAvailable, describe: describeOrSkip, test };
};
