import { describe } from "@jest/globals";
import { findOrBuildBtcd } from "../bitcoin/find-btcd.ts";

/**
 * Finds a Bitcoin node for a test file, or builds it if it is missing. If that fails, the returned
 * `describe` skips its tests and adds the reason to their titles.
 */
export const requireBtcd = async () => {
  const program = await findOrBuildBtcd();
  const describeOrSkip = (title: string, body: () => void): void =>
    typeof program === "string"
      ? describe(title, body)
      : describe.skip(`${title} (${program.reason})`, body);
  return { program: typeof program === "string" ? program : "", describe: describeOrSkip };
};
