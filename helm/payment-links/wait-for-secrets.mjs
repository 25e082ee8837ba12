// Before the migrations: waits until every key that they read is there, and ends with 78 and the names of those that
// are not. It looks at the volume `needs`, in which Kubernetes shows what comes later after a minute or so; it can see
// names alone, and asks no API.
import { statSync } from "node:fs";
import { setTimeout as pass } from "node:timers/promises";

/** Where the volume is mounted; another place in a test. */
const folder = process.env.NEEDS_FOLDER ?? "/needs";
/** Each `{ kind, name, keys }`. */
const needs = JSON.parse(process.env.NEEDS);
const waitSeconds = Number(process.env.WAIT_SECONDS);
const untilMs = Date.now() + waitSeconds * 1_000;
const pauseMs = 500;

const hasValue = (path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** In words, what is not there. */
const findMissing = () =>
  needs.flatMap(({ kind, name, keys }) => {
    const missing = keys.filter((key) => !hasValue(`${folder}/${kind}/${name}/${key}`));
    if (missing.length === 0) return [];
    const said = missing.length === keys.length ? "is missing, or has none of" : "lacks";
    return [`${kind} ${name} ${said} ${missing.join(", ")}`];
  });

// Process 1 is not ended by a signal that it does not hear.
process.on("SIGTERM", () => process.exit(143));

let missing = findMissing();
if (missing.length > 0) console.log(`waiting ${waitSeconds} s at most: ${missing.join("; ")}`);
while (missing.length > 0 && Date.now() < untilMs) {
  await pass(pauseMs);
  missing = findMissing();
}
if (missing.length > 0) {
  console.error(`the migrations cannot begin: ${missing.join("; ")}`);
  process.exit(78);
}
console.log("all that the migrations read is there");
