// Runs before the migrations. Waits until all Secret and ConfigMap keys that they need exist. If some are still missing
// after the timeout, prints their names and exits with 78. It checks the volume `needs`, to which Kubernetes adds new
// keys within about a minute. It can read the names of the keys but not their values.
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The volume's mount path. Tests override it. */
const volumePath = process.env.NEEDS_FOLDER ?? "/needs";
/** A list of `{ kind, name, keys }`. */
const requiredKeys = JSON.parse(process.env.NEEDS);
const waitSeconds = Number(process.env.WAIT_SECONDS);
const deadlineMs = Date.now() + waitSeconds * 1_000;
const pollIntervalMs = 500;

const hasValue = (path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Returns a description of each Secret or ConfigMap with missing keys. */
const describeMissing = () =>
  requiredKeys.flatMap(({ kind, name, keys }) => {
    const missingKeys = keys.filter((key) => !hasValue(`${volumePath}/${kind}/${name}/${key}`));
    if (missingKeys.length === 0) return [];
    const problem = missingKeys.length === keys.length ? "is missing, or has none of" : "lacks";
    return [`${kind} ${name} ${problem} ${missingKeys.join(", ")}`];
  });

// As process 1, Node ignores signals without a handler.
process.on("SIGTERM", () => process.exit(143));

let missing = describeMissing();
if (missing.length > 0) console.log(`waiting up to ${waitSeconds} s: ${missing.join("; ")}`);
while (missing.length > 0 && Date.now() < deadlineMs) {
  await sleep(pollIntervalMs);
  missing = describeMissing();
}
if (missing.length > 0) {
  console.error(`the migrations cannot start: ${missing.join("; ")}`);
  process.exit(78);
}
console.log("all Secrets and ConfigMaps of the migrations are complete");
