import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { readPods, waitForRollout } from "./pods.ts";
import { type Release, services } from "./release.ts";

const restartedMsMax = 90_000;
const pollMs = 500;

/** Freezes the service's process. In a shared process namespace, it is not process 1. */
const freezeScript = `
  const fs = require("node:fs");
  const isService = (pid) => {
    try { return fs.readFileSync("/proc/" + pid + "/cmdline", "utf8").endsWith("src/main.ts\\0"); }
    catch { return false; }
  };
  const pids = fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).filter(isService);
  if (pids.length !== 1) throw new Error("expected 1 process of the service, found " + pids.length);
  process.kill(Number(pids[0]), "SIGSTOP");`;

/** Asserts that every Deployment's liveness probe restarts a frozen process. */
export const freezeProcesses = async (release: Release): Promise<void> => {
  const { cluster, name } = release;
  // Process 1 of a process namespace cannot be stopped from within the namespace.
  const patch = JSON.stringify({ spec: { template: { spec: { shareProcessNamespace: true } } } });
  const deployments = services.map((service) => `deployment/${name}-${service}`);
  await cluster.kubectl(["patch", ...deployments, "--patch", patch]);
  await waitForRollout(release);
  try {
    const pods = await readPods(cluster);
    const frozenPods = services.map((service) => {
      const pod = pods.find((candidate) => candidate.name.startsWith(`${name}-${service}-`));
      if (pod === undefined) throw new Error(`${service} has no pod`);
      return pod.name;
    });
    const frozenAtMs = performance.now();
    for (const pod of frozenPods)
      await cluster.kubectl(["exec", pod, "--", "node", "--eval", freezeScript]);
    await waitUntilRestarted(release, frozenPods, frozenAtMs);
    const otherPods = (await readPods(cluster)).filter((pod) => !frozenPods.includes(pod.name));
    assert.ok(otherPods.every(({ restarts }) => restarts === 0));
  } finally {
    await cluster.kubectl(["rollout", "undo", ...deployments]);
    await waitForRollout(release);
  }
};

const waitUntilRestarted = async (
  { cluster }: Release,
  names: readonly string[],
  frozenAtMs: number,
): Promise<void> => {
  const notYetRestarted = new Set(names);
  while (notYetRestarted.size > 0) {
    const elapsedMs = performance.now() - frozenAtMs;
    if (elapsedMs > restartedMsMax) {
      throw new Error(
        `not restarted within ${restartedMsMax} ms: ${[...notYetRestarted].join(", ")}`,
      );
    }
    for (const { name, isReady, restarts } of await readPods(cluster)) {
      if (isReady && restarts === 1 && notYetRestarted.delete(name)) {
        process.stdout.write(`  ${name} is ready again after ${(elapsedMs / 1000).toFixed(0)} s\n`);
      }
    }
    await sleep(pollMs);
  }
};
