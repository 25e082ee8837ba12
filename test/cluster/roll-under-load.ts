import assert from "node:assert/strict";
import { assertNoDisruption, assertNothingLost, startLoad } from "./load.ts";
import { waitForRollout } from "./pods.ts";
import { type Release, services } from "./release.ts";

const requestsPerSecond = 100;
const restarts = 5;

/**
 * Asserts that five rolling restarts of all services and an upgrade with a migration do not disrupt
 * callers.
 */
export const rollUnderLoad = async (release: Release): Promise<void> => {
  const { cluster, name, config } = release;
  assert.ok(config.NEXT_IMAGE_TAG !== "", "NEXT_IMAGE_TAG is required");
  const deployments = services.map((service) => `deployment/${name}-${service}`);
  const load = await startLoad(release, requestsPerSecond);
  const startedAtMs = performance.now();
  const reportState = async (step: string) => {
    const { sent, failures, slowestMs } = await load.readState();
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
    const state = JSON.stringify({ sent, failures, slowestMs });
    process.stdout.write(`  after ${step}, ${seconds} s: ${state}\n`);
  };
  for (let restart = 1; restart <= restarts; restart += 1) {
    await cluster.kubectl(["rollout", "restart", ...deployments]);
    await waitForRollout(release);
    await reportState(`restart ${restart}`);
  }
  await release.upgrade(["--set", `image.tag=${config.NEXT_IMAGE_TAG}`]);
  await waitForRollout(release);
  await reportState("the upgrade");
  const report = await load.end();
  assertNothingLost(report);
  assertNoDisruption(report);
};
