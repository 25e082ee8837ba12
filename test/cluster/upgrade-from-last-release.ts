import assert from "node:assert/strict";
import { createCluster } from "./cluster.ts";
import { assertNoDisruption, assertNothingLost, startLoad } from "./load.ts";
import { passHelmTest } from "./pass-helm-test.ts";
import { waitForRollout } from "./pods.ts";
import { type Release, installRelease } from "./release.ts";

const requestsPerSecond = 20;
const rollbackMsMax = 330_000;

/**
 * Asserts that an upgrade from the last released chart and images to the current ones does not
 * disrupt callers, and that a rollback does not either.
 */
export const upgradeFromLastRelease = async ({ cluster, config }: Release): Promise<void> => {
  assert.ok(config.LAST_CHART !== "", "LAST_CHART is required");
  const lastRelease = { chart: config.LAST_CHART, imageTag: config.LAST_IMAGE_TAG };
  const ownCluster = createCluster(`${cluster.namespace}-last`);
  const release = await installRelease(ownCluster, config, lastRelease);
  try {
    const load = await startLoad(release, requestsPerSecond);
    await release.upgrade();
    await waitForRollout(release);
    await passHelmTest(release);
    const rollbackCommand = [
      "rollback",
      release.name,
      "--wait",
      "--timeout",
      `${rollbackMsMax / 1000 - 30}s`,
    ];
    await ownCluster.helm(rollbackCommand, { timeoutMs: rollbackMsMax });
    await waitForRollout(release);
    const report = await load.end();
    assertNothingLost(report);
    assertNoDisruption(report);
  } finally {
    await cluster.kubectl(["delete", "namespace", ownCluster.namespace], { timeoutMs: 180_000 });
  }
};
