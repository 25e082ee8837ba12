import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Cluster } from "./cluster.ts";
import { type Release, services } from "./release.ts";

const Pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
      spec: z.object({ containers: z.array(z.object({ image: z.string() })) }),
      status: z.object({
        containerStatuses: z
          .array(z.object({ restartCount: z.number(), ready: z.boolean() }))
          .default([]),
      }),
    }),
  ),
});

/** A pod of one of the four services. */
type Pod = { name: string; image: string; isReady: boolean; isEnding: boolean; restarts: number };

const rolloutMsMax = 180_000;

/**
 * Returns the pods of the release. Includes terminating pods and excludes the pods of the
 * migrations Job.
 */
export const readPods = async (cluster: Cluster): Promise<readonly Pod[]> => {
  const component = `app.kubernetes.io/component in (${services.join(",")})`;
  const selector = `app.kubernetes.io/instance=payment-links,${component}`;
  const output = await cluster.kubectl(["get", "pods", "--selector", selector, "--output", "json"]);
  return Pods.parse(JSON.parse(output)).items.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    image: spec.containers.map(({ image }) => image).join(" "),
    isReady: status.containerStatuses.every(({ ready }) => ready),
    isEnding: metadata.deletionTimestamp !== undefined,
    restarts: status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
  }));
};

/** Waits until each Deployment's new pods are ready and the old pods are gone. */
export const waitForRollout = async ({ cluster, name }: Release): Promise<void> => {
  for (const service of services) {
    const status = ["rollout", "status", `deployment/${name}-${service}`, "--timeout", "170s"];
    await cluster.kubectl(status, { timeoutMs: rolloutMsMax });
  }
  const haveOldPodsEnded = async () => !(await readPods(cluster)).some(({ isEnding }) => isEnding);
  await waitUntil("the old pods have ended", haveOldPodsEnded, rolloutMsMax);
};
