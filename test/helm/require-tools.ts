import { describe, test } from "@jest/globals";
import { findTool } from "../rig/find-tool.ts";

/**
 * Returns `describe` and `test` for tests that need programs. If a program is missing, they skip
 * the tests and add its name to their titles. `npm test` counts these titles, so a skipped test
 * does not look like a passed test.
 */
export const requireTools = (...names: readonly string[]) => {
  const missingTool = names.find((name) => findTool(name) === undefined);
  if (missingTool === undefined) return { describe, test };
  const reason = `(no ${missingTool})`;
  return {
    describe: (title: string, body: () => void) => describe.skip(`${title} ${reason}`, body),
    test: (title: string, body: () => Promise<void>) => test.skip(`${title} ${reason}`, body),
  };
};
