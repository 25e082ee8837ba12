import { describe, test } from "@jest/globals";
import { chromiumUrl } from "./chromium-url.ts";

/**
 * For a test file in a real browser. Only where no Chromium could be brought are its tests skipped,
 * and their titles say so.
 */
export const needingChromium = () => {
  const isThere = chromiumUrl() !== undefined;
  const describeOrSkip = (title: string, body: () => void): void =>
    isThere ? describe(title, body) : describe.skip(`${title} (no chromium)`, body);
  return { isThere, describe: describeOrSkip, test };
};
