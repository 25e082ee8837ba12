// Everything that can be said of the code without running it; `npm run check` and `npm test` call it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const steps = [
  ["types", "turbo", "run", "check", "--output-logs=errors-only"],
  ["lint and rooms", "oxlint", "--type-aware", "--quiet"],
  ["format", "oxfmt", "--check"],
  ["unused and undeclared", "knip"],
  ["rules and references", "node", "test/check-rules.mjs"],
];

let failedCount = 0;
for (const [name, command, ...args] of steps) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
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
