// A workspace's `test:alone`: its tests of tier 1. turbo remembers their result for as long as
// nothing has changed that they could see.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { nodeFlags } from "../deploy/node24.mjs";
import { countResults, jestArgs, root } from "./jest/jest.mjs";
import { listAlone } from "./tiers.mjs";

const folder = join(process.cwd(), ".turbo");
const resultFile = join(folder, "jest.json");
const countsFile = join(folder, "alone.json");

for (const file of [resultFile, countsFile]) rmSync(file, { force: true });
mkdirSync(folder, { recursive: true });

const own = `${relative(root, process.cwd())}/`;
const tests = (await listAlone()).filter((test) => test.startsWith(own));
if (tests.length === 0) {
  writeFileSync(countsFile, JSON.stringify({ passed: 0, failed: 0, skipped: {} }));
} else {
  // Other workspaces run beside it.
  const workers = "--maxWorkers=2";
  const args = jestArgs(
    "--json",
    `--outputFile=${resultFile}`,
    workers,
    "--runTestsByPath",
    ...tests,
  );
  const { status } = spawnSync(process.execPath, [...nodeFlags, ...args], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const counts = countResults(JSON.parse(readFileSync(resultFile, "utf8")), {});
  for (const name of counts.unnamed) process.stderr.write(`skipped for no named reason: ${name}\n`);
  writeFileSync(countsFile, JSON.stringify(counts));
  process.exitCode = counts.failed === 0 ? (status ?? 1) : 1;
}
