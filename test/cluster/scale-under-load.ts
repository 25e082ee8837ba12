import { assertNobodyNoticed, assertNothingLost, startLoad } from "./load.ts";
import { waitUntilRolled } from "./pods.ts";
import { type Release, services } from "./release.ts";

const requestsPerSecond = 100;
const replicasBefore = 2;

/** Each Deployment goes from one pod to three and back, and no caller notices anything. */
export const scaleUnderLoad = async (release: Release): Promise<void> => {
  const { cluster, name } = release;
  const scale = async (scaled: readonly string[], replicas: number) => {
    const deployments = scaled.map((service) => `deployment/${name}-${service}`);
    await cluster.kubectl(["scale", `--replicas=${replicas}`, ...deployments]);
    await waitUntilRolled(release);
  };
  await scale(services, 1);
  try {
    const load = await startLoad(release, requestsPerSecond);
    for (const service of services) {
      await scale([service], 3);
      await scale([service], 1);
      const { sent, failures, slowestMs } = await load.tell();
      const said = JSON.stringify({ sent, failures, slowestMs });
      process.stdout.write(`  after ${service}: ${said}\n`);
    }
    const report = await load.end();
    assertNothingLost(report);
    assertNobodyNoticed(report);
  } finally {
    await scale(services, replicasBefore);
  }
};
