import { assertNoDisruption, assertNothingLost, startLoad } from "./load.ts";
import { waitForRollout } from "./pods.ts";
import { type Release, services } from "./release.ts";

const requestsPerSecond = 100;
const replicasBefore = 2;

/** Asserts that scaling each Deployment from one pod to three and back does not disrupt callers. */
export const scaleUnderLoad = async (release: Release): Promise<void> => {
  const { cluster, name } = release;
  const scale = async (scaledServices: readonly string[], replicas: number) => {
    const deployments = scaledServices.map((service) => `deployment/${name}-${service}`);
    await cluster.kubectl(["scale", `--replicas=${replicas}`, ...deployments]);
    await waitForRollout(release);
  };
  await scale(services, 1);
  try {
    const load = await startLoad(release, requestsPerSecond);
    for (const service of services) {
      await scale([service], 3);
      await scale([service], 1);
      const { sent, failures, slowestMs } = await load.readState();
      const state = JSON.stringify({ sent, failures, slowestMs });
      process.stdout.write(`  after ${service}: ${state}\n`);
    }
    const report = await load.end();
    assertNothingLost(report);
    assertNoDisruption(report);
  } finally {
    await scale(services, replicasBefore);
  }
};
