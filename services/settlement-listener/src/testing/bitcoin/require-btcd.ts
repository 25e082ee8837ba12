import { describe } from "@jest/globals";
import { findOrBuildBtcd } from "./find-btcd.ts";

/**
 * Provides what a test file needs for a Bitcoin node, and builds the node if it is missing. If that
 * fails, its tests are skipped with the reason in their titles.
 */
export const requireBtcd = async () => {
  const program = await findOrBuildBtcd();
  const describeOrSkip = (title: string, body: () => void): void =>
    typeof program === "string"
      ? describe(title, body)
      : describe.skip(`${title} (${program.reason})`, body);
  return { program: typeof program === "string" ? program : "", describe: describeOrSkip };
};
