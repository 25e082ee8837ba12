// Runs before the migrations. Waits until every Secret and ConfigMap key that they read exists; otherwise exits with 78
// and prints the missing names. It checks the volume `needs`, where Kubernetes adds new keys within about a minute. It
// can see names but not values, and does not call the Kubernetes API.
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

// Process 1 ignores signals that it does not handle.
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
