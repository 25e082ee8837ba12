import assert from "node:assert/strict";
import type { Release } from "./release.ts";

const testMsMax = 180_000;

/** Asserts that `helm test` passes for the release. */
export const passHelmTest = async ({ cluster, name }: Release): Promise<void> => {
  const output = await cluster.helm(["test", name, "--timeout", "150s"], { timeoutMs: testMsMax });
  assert.match(output, /Phase:\s+Succeeded/);
};
