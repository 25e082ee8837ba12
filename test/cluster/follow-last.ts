import assert from "node:assert/strict";
import { openCluster } from "./cluster.ts";
import { assertNobodyNoticed, assertNothingLost, startLoad } from "./load.ts";
import { passHelmTest } from "./pass-helm-test.ts";
import { waitUntilRolled } from "./pods.ts";
import { type Release, installRelease } from "./release.ts";

const requestsPerSecond = 20;
const rollbackMsMax = 330_000;

/** From the last released chart and images to these, and back: nobody notices either. */
export const followLast = async ({ cluster, config }: Release): Promise<void> => {
  assert.ok(config.LAST_CHART !== "", "LAST_CHART is needed");
  const last = { chart: config.LAST_CHART, imageTag: config.LAST_IMAGE_TAG };
  const own = openCluster(`${cluster.namespace}-last`);
  const release = await installRelease(own, config, last);
  try {
    const load = await startLoad(release, requestsPerSecond);
    await release.upgrade();
    await waitUntilRolled(release);
    await passHelmTest(release);
    const back = ["rollback", release.name, "--wait", "--timeout", `${rollbackMsMax / 1000 - 30}s`];
    await own.helm(back, { timeoutMs: rollbackMsMax });
    await waitUntilRolled(release);
    const report = await load.end();
    assertNothingLost(report);
    assertNobodyNoticed(report);
  } finally {
    await cluster.kubectl(["delete", "namespace", own.namespace], { timeoutMs: 180_000 });
  }
};
