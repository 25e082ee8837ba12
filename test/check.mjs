// Runs all static checks. `npm run check` and `npm test` call it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Each step runs under turbo, which skips a step that already passed for the same sources. The type
 * check and the linter use one thread each. More threads would repeat work and use twice the memory
 * while tests run in parallel.
 */
const steps = [
  ["types", "//#check:types"],
  ["lint and import rules", "//#check:lint"],
  ["format", "//#check:format"],
  ["unused code and undeclared dependencies", "//#check:unused"],
  ["rules and references", "//#check:rules"],
  ["words", "//#check:words"],
  ["pictures", "//#check:pictures"],
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
  const hasPassed = status === 0;
  process.stdout.write(`check: ${name}: ${hasPassed ? "ok" : "FAILED"}\n`);
  if (hasPassed) continue;
  failedCount += 1;
  process.stdout.write(`${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}\n`);
}
process.exit(failedCount === 0 ? 0 : 1);
