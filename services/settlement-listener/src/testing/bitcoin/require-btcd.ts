import { describe } from "@jest/globals";
import { findOrBuildBtcd } from "./find-btcd.ts";

/**
 * What a test file on a Bitcoin node needs, built where it is missing. Only where that cannot be done
 * are its tests skipped, and their titles say why.
 */
export const requireBtcd = async () => {
  const program = await findOrBuildBtcd();
  const describeOrSkip = (title: string, body: () => void): void =>
    typeof program === "string"
      ? describe(title, body)
      : describe.skip(`${title} (${program.reason})`, body);
  return { program: typeof program === "string" ? program : "", describe: describeOrSkip };
};
