import { describe } from "@jest/globals";
import { bringBtcd } from "./find-btcd.ts";

/**
 * What a test file on a Bitcoin node needs, built where it is missing. Only where that cannot be done
 * are its tests skipped, and their titles say why.
 */
export const needingBtcd = async () => {
  const program = await bringBtcd();
  const describeOrSkip = (title: string, body: () => void): void =>
    typeof program === "string"
      ? describe(title, body)
      : describe.skip(`${title} (${program.missing})`, body);
  return { program: typeof program === "string" ? program : "", describe: describeOrSkip };
};
