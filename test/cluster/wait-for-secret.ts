import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Release } from "./release.ts";

const lateMs = 30_000;
const name = "payment-links-late";

const SecretManifest = z.object({ data: z.record(z.string(), z.string()) });

/**
 * An upgrade to a Secret that is made only half a minute later, as by an operator of external
 * secrets: the migrations Job waits for it and goes on. Where it never comes, the Job says what it
 * lacks, and the old pods go on serving.
 */
export const waitForSecret = async (release: Release): Promise<void> => {
  const { cluster, secretName } = release;
  const lateSecretArgs = ["--set", `secrets.existingSecret=${name}`];
  const readSecret = () => cluster.kubectl(["get", "secret", secretName, "--output", "json"]);
  const { data } = SecretManifest.parse(JSON.parse(await readSecret()));

  await assert.rejects(release.upgrade([...lateSecretArgs, "--set", "migrations.waitSeconds=5"]));
  const pods = ["get", "pods", "--selector", "app.kubernetes.io/component=migrations"];
  const messagePath =
    "jsonpath={.items[*].status.initContainerStatuses[*].state.terminated.message}";
  const output = await cluster.kubectl([...pods, "--output", messagePath]);
  assert.ok(output.includes(name), output);

  const creatingSecret = sleep(lateMs).then(() =>
    cluster.apply({ apiVersion: "v1", kind: "Secret", metadata: { name }, data }),
  );
  await Promise.all([release.upgrade(lateSecretArgs), creatingSecret]);
  await release.upgrade();
};
