import assert from "node:assert/strict";
import { assertNobodyNoticed, assertNothingLost, startLoad } from "./load.ts";
import { waitUntilRolled } from "./pods.ts";
import { type Release, services } from "./release.ts";

const requestsPerSecond = 100;
const restarts = 5;

/**
 * Five rolling restarts of everything and an upgrade with a migration, and no caller notices
 * anything.
 */
export const rollUnderLoad = async (release: Release): Promise<void> => {
  const { cluster, name, config } = release;
  assert.ok(config.NEXT_IMAGE_TAG !== "", "NEXT_IMAGE_TAG is needed");
  const deployments = services.map((service) => `deployment/${name}-${service}`);
  const load = await startLoad(release, requestsPerSecond);
  const startedAtMs = performance.now();
  const tell = async (what: string) => {
    const { sent, failures, slowestMs } = await load.tell();
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
    const said = JSON.stringify({ sent, failures, slowestMs });
    process.stdout.write(`  after ${what}, ${seconds} s: ${said}\n`);
  };
  for (let restart = 1; restart <= restarts; restart += 1) {
    await cluster.kubectl(["rollout", "restart", ...deployments]);
    await waitUntilRolled(release);
    await tell(`restart ${restart}`);
  }
  await release.upgrade(["--set", `image.tag=${config.NEXT_IMAGE_TAG}`]);
  await waitUntilRolled(release);
  await tell("the upgrade");
  const report = await load.end();
  assertNothingLost(report);
  assertNobodyNoticed(report);
};
