// `npm run test:cluster [-- <scenario> …]` installs the chart in the cluster that KUBECONFIG
// selects and runs scenarios against it. The last line of the output has the totals. Requires
// kubectl and helm on PATH, and images that the nodes can pull.
import { parseConfig } from "@payment-links/runtime";
import { assertPrepared } from "./assert-prepared.ts";
import { createCluster } from "./cluster.ts";
import { clusterConfig } from "./config.ts";
import { makeFirstPayment } from "./make-first-payment.ts";
import { passHelmTest } from "./pass-helm-test.ts";
import { assertLockedDown } from "./assert-locked-down.ts";
import { testFailedMigration } from "./test-failed-migration.ts";
import { upgradeFromLastRelease } from "./upgrade-from-last-release.ts";
import { freezeProcesses } from "./freeze-processes.ts";
import { tolerateTaints } from "./tolerate-taints.ts";
import { rollUnderLoad } from "./roll-under-load.ts";
import { scaleUnderLoad } from "./scale-under-load.ts";
import { followAfterInstallGuide } from "./follow-after-install-guide.ts";
import { tryQuickstart } from "./try-quickstart.ts";
import { waitForSecret } from "./wait-for-secret.ts";
import { surviveOutage } from "./survive-outage.ts";
import { type Release, installRelease } from "./release.ts";

/** The scenarios by name, in execution order. */
const scenarios: Readonly<Record<string, (release: Release) => Promise<void>>> = {
  "first-payment": makeFirstPayment,
  "helm-test": passHelmTest,
  prepared: assertPrepared,
  "locked-down": assertLockedDown,
  "failing-migration": testFailedMigration,
  "late-secret": waitForSecret,
  tainted: tolerateTaints,
  quickstart: tryQuickstart,
  "after-install": followAfterInstallGuide,
  "last-release": upgradeFromLastRelease,
  rolling: rollUnderLoad,
  scaling: scaleUnderLoad,
  "outage-postgres": (release) => surviveOutage(release, "postgres"),
  "outage-kafka": (release) => surviveOutage(release, "kafka"),
  "outage-redis": (release) => surviveOutage(release, "redis"),
  frozen: freezeProcesses,
};

const requestedNames = process.argv.slice(2);
const unknownNames = requestedNames.filter((name) => !Object.hasOwn(scenarios, name));
if (unknownNames.length > 0) {
  process.stderr.write(`usage: npm run test:cluster -- [${Object.keys(scenarios).join(" | ")}]\n`);
  process.exit(2);
}

const config = parseConfig(clusterConfig, process.env);
const cluster = createCluster(config.NAMESPACE);

/**
 * Runs one step and prints whether it passed. Returns the step's result, or undefined if it failed.
 */
const runStep = async <T>(name: string, step: () => Promise<T>): Promise<T | undefined> => {
  const startedAt = performance.now();
  const report = (outcome: string) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`${outcome}: ${name} (${seconds} s)\n`);
  };
  try {
    const result = await step();
    report("ok");
    passedCount += 1;
    return result;
  } catch (error) {
    report("FAILED");
    failedCount += 1;
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
};

/** Prints the cluster state that is most useful for diagnosing a failure. */
const printClusterState = async () => {
  for (const args of [
    ["get", "pods", "--output", "wide"],
    ["get", "events", "--sort-by", ".lastTimestamp"],
    ["logs", "--selector", "app.kubernetes.io/instance", "--all-containers", "--tail", "20"],
  ]) {
    const output = await cluster.kubectl(args).catch(String);
    process.stdout.write(`\n$ kubectl ${args.join(" ")}\n${output.slice(-6_000)}\n`);
  }
};

let passedCount = 0;
let failedCount = 0;
const release = await runStep("install", () => installRelease(cluster, config));
if (release !== undefined) {
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (requestedNames.length === 0 || requestedNames.includes(name))
      await runStep(name, () => scenario(release));
  }
}
if (failedCount > 0) await printClusterState();
if (config.KEEP === "0") {
  await cluster.kubectl(["delete", "namespace", cluster.namespace], { timeoutMs: 180_000 });
}
process.stdout.write(`${passedCount} passed, ${failedCount} failed\n`);
process.exitCode = failedCount === 0 ? 0 : 1;
