import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Release } from "./release.ts";

const lateMs = 30_000;
const name = "payment-links-late";

const SecretManifest = z.object({ data: z.record(z.string(), z.string()) });

/**
 * Upgrades to a Secret that is created half a minute later, as an external secrets operator can do.
 * Asserts that the migrations Job waits for the Secret and then continues. If the Secret never
 * appears, the Job must report what is missing, and the old pods must continue to serve requests.
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
