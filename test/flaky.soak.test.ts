import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { projectRoot } from "./rig/child.ts";
import { listDescendants } from "./rig/descendants.ts";

/** Jest must be able to find this file. Other tests do not read the folder. */
const plantedTestPath = join(projectRoot, `test/jest/planted-${process.pid}.test.ts`);
afterEach(() => rmSync(plantedTestPath, { force: true }));

/** This test passes in the first run and fails in every later run of the same command. */
const flakyTestSource = `
  import { existsSync, writeFileSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { expect, test } from "@jest/globals";
  const seen = join(tmpdir(), "seen");
  const isFirst = !existsSync(seen);
  writeFileSync(seen, "");
  test("the first run", () => expect(isFirst).toBe(true));
  test("every run", () => {});
`;

const startFlakyCommand = (runCount: number, text: string) => {
  writeFileSync(plantedTestPath, text);
  const args = [join(projectRoot, "test/flaky.mjs"), "--times", String(runCount), plantedTestPath];
  const child = spawn(process.execPath, args, { cwd: projectRoot });
  let [output, errorOutput] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errorOutput += chunk.toString()));
  const exited = once(child, "close").then(([code]) => ({ code, output, errorOutput }));
  return { child, exited, output: () => output };
};

test("counts a test that fails in some runs, and fails the command", async () => {
  const { code, output, errorOutput } = await startFlakyCommand(3, flakyTestSource).exited;
  expect(output.replaceAll(/\([\d.]+ s\)/g, "(n s)").split("\n")).toEqual([
    "run 1 of 3: 2 passed, 0 failed (n s)",
    "run 2 of 3: 1 passed, 1 failed (n s)",
    "run 3 of 3: 1 passed, 1 failed (n s)",
    "failures  test",
    expect.stringMatching(/^2 of 3 {4}test\/jest\/planted-\d+\.test\.ts: the first run$/),
    "",
  ]);
  expect(errorOutput).toContain("expect(received).toBe(expected)");
  expect(code).toBe(1);
});

test("stops its busy processes when interrupted", async () => {
  const { child, exited, output } = startFlakyCommand(1_000, flakyTestSource);
  await waitUntil("the first run ends", () => output().includes("run 1 of"));
  const busyPids = await listDescendants(child.pid ?? -1, "MainThread");
  expect(busyPids.length).toBeGreaterThanOrEqual(4);
  child.kill("SIGINT");
  expect((await exited).code).toBe(130);
  for (const pid of busyPids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
