// Everything that can be checked without running the product; `npm run check` and `npm test` call
// it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Each runs under turbo, which remembers what passed for the same sources. Types and lint use one
 * thread: more threads would repeat work and need twice the memory, and tests run at the same time.
 */
const steps = [
  ["types", "//#check:types"],
  ["lint and rooms", "//#check:lint"],
  ["format", "//#check:format"],
  ["unused and undeclared", "//#check:unused"],
  ["rules and references", "//#check:rules"],
];

let failedCount = 0;
for (const [name, task] of steps) {
  const args = ["run", task, "--output-logs=errors-only"];
  const { status, stdout, stderr, error } = spawnSync("turbo", args, {
    cwd: root,
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: `${root}node_modules/.bin:${process.env.PATH}`,
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
    },
  });
  const isGood = status === 0;
  process.stdout.write(`check: ${name}: ${isGood ? "ok" : "FAILED"}\n`);
  if (isGood) continue;
  failedCount += 1;
  process.stdout.write(`${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}\n`);
}
process.exit(failedCount === 0 ? 0 : 1);
