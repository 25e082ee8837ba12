import assert from "node:assert/strict";
import { readPods } from "./pods.ts";
import { type Release, services } from "./release.ts";

/** Prints a container's properties as one line of JSON. */
const inspectScript = `
  const fs = require("node:fs");
  const tryWrite = () => { try { fs.writeFileSync("/app/x", ""); return true; } catch { return false; } };
  console.log(JSON.stringify({
    pid1: fs.readFileSync("/proc/1/cmdline", "utf8").split("\\0")[0],
    user: process.getuid(),
    canWriteRoot: tryWrite(),
    hasNpm: fs.existsSync("/usr/local/bin/npm"),
    hasToken: fs.existsSync("/var/run/secrets/kubernetes.io"),
    heapMiB: Math.round(require("node:v8").getHeapStatistics().heap_size_limit / 2 ** 20),
  }));`;

/** Three quarters of the chart's memory limit of 384 MiB, plus a tolerance for V8's rounding. */
const heapMiBMax = 300;

/**
 * Asserts that every container has the properties that the chart promises, and that none was
 * restarted.
 */
export const assertLockedDown = async ({ cluster, name }: Release): Promise<void> => {
  for (const service of services) {
    const deployment = `deployment/${name}-${service}`;
    const output = await cluster.kubectl([
      "exec",
      deployment,
      "--",
      "node",
      "--eval",
      inspectScript,
    ]);
    const { heapMiB, ...containerFacts } = JSON.parse(output) as Record<string, unknown>;
    assert.deepEqual(
      containerFacts,
      { pid1: "node", user: 65_532, canWriteRoot: false, hasNpm: false, hasToken: false },
      service,
    );
    assert.ok(Number(heapMiB) <= heapMiBMax, `${service} has a heap of ${String(heapMiB)} MiB`);
  }
  const restartedPods = (await readPods(cluster)).filter(({ restarts }) => restarts > 0);
  assert.deepEqual(restartedPods, []);
};
