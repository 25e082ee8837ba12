import { describe, test } from "@jest/globals";
import { findTool } from "../rig/find-tool.ts";

/**
 * Blocks and tests that need programs. If one is missing they are skipped and say which, so that
 * `npm test` counts them: a test that is skipped in silence would look like a proof.
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
