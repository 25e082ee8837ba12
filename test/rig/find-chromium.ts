import { describe, test } from "@jest/globals";
import { bringChromium } from "./bring-chromium.ts";

/**
 * What a test file in a real browser needs, brought where it is missing. Only where that cannot be
 * done are its tests skipped, and their titles say so.
 */
export const needingChromium = async () => {
  const program = await bringChromium();
  const describeOrSkip = (title: string, body: () => void): void =>
    program === undefined ? describe.skip(`${title} (no chromium)`, body) : describe(title, body);
  return { program, describe: describeOrSkip, test };
};
