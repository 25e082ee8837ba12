// `npm run test:cluster [-- <scenario> …]`: installs the chart in the cluster that KUBECONFIG names
// and plays scenarios against it; the last line counts. Needs kubectl and helm on PATH, and images
// that nodes can pull.
import { readConfig } from "@payment-links/runtime";
import { bePrepared } from "./be-prepared.ts";
import { openCluster } from "./cluster.ts";
import { clusterConfig } from "./config.ts";
import { makeFirstPayment } from "./make-first-payment.ts";
import { passHelmTest } from "./pass-helm-test.ts";
import { beLockedDown } from "./be-locked-down.ts";
import { failMigration } from "./fail-migration.ts";
import { followLast } from "./follow-last.ts";
import { freezeProcesses } from "./freeze-processes.ts";
import { standApart } from "./stand-apart.ts";
import { rollUnderLoad } from "./roll-under-load.ts";
import { scaleUnderLoad } from "./scale-under-load.ts";
import { liveOn } from "./live-on.ts";
import { tryQuickstart } from "./try-quickstart.ts";
import { waitForSecret } from "./wait-for-secret.ts";
import { surviveOutage } from "./survive-outage.ts";
import { type Release, installRelease } from "./release.ts";

/** The scenarios by name, in the order in which they are played. */
const scenarios: Readonly<Record<string, (release: Release) => Promise<void>>> = {
  "first-payment": makeFirstPayment,
  "helm-test": passHelmTest,
  prepared: bePrepared,
  "locked-down": beLockedDown,
  "failing-migration": failMigration,
  "late-secret": waitForSecret,
  tainted: standApart,
  quickstart: tryQuickstart,
  "after-install": liveOn,
  "last-release": followLast,
  rolling: rollUnderLoad,
  scaling: scaleUnderLoad,
  "outage-postgres": (release) => surviveOutage(release, "postgres"),
  "outage-kafka": (release) => surviveOutage(release, "kafka"),
  "outage-redis": (release) => surviveOutage(release, "redis"),
  frozen: freezeProcesses,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(scenarios, name));
if (unknown.length > 0) {
  process.stderr.write(`usage: npm run test:cluster -- [${Object.keys(scenarios).join(" | ")}]\n`);
  process.exit(2);
}

const config = readConfig(clusterConfig, process.env);
const cluster = openCluster(config.NAMESPACE);

/** Plays one step and reports it; answers the step's result, or undefined if it failed. */
const play = async <T>(name: string, step: () => Promise<T>): Promise<T | undefined> => {
  const startedAt = performance.now();
  const tell = (how: string) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`${how}: ${name} (${seconds} s)\n`);
  };
  try {
    const answer = await step();
    tell("ok");
    passedCount += 1;
    return answer;
  } catch (error) {
    tell("FAILED");
    failedCount += 1;
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
};

/** What a person would look at first. */
const tellState = async () => {
  for (const args of [
    ["get", "pods", "--output", "wide"],
    ["get", "events", "--sort-by", ".lastTimestamp"],
    ["logs", "--selector", "app.kubernetes.io/instance", "--all-containers", "--tail", "20"],
  ]) {
    const said = await cluster.kubectl(args).catch(String);
    process.stdout.write(`\n$ kubectl ${args.join(" ")}\n${said.slice(-6_000)}\n`);
  }
};

let passedCount = 0;
let failedCount = 0;
const release = await play("install", () => installRelease(cluster, config));
if (release !== undefined) {
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (asked.length === 0 || asked.includes(name)) await play(name, () => scenario(release));
  }
}
if (failedCount > 0) await tellState();
if (config.KEEP === "0") {
  await cluster.kubectl(["delete", "namespace", cluster.namespace], { timeoutMs: 180_000 });
}
process.stdout.write(`${passedCount} passed, ${failedCount} failed\n`);
process.exitCode = failedCount === 0 ? 0 : 1;
