import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const jest = join(import.meta.dirname, "../../node_modules/jest/bin/jest.js");
const runner = join(import.meta.dirname, "runner.mjs");

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runner-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const runFiles = (texts: readonly string[]) => {
  for (const [index, text] of texts.entries()) {
    const importLine = `import { expect, test } from "@jest/globals";\n`;
    writeFileSync(join(directory, `file-${index}.mjs`), importLine + text);
  }
  const config = { rootDir: directory, runner, testMatch: ["**/file-*.mjs"], watchman: false };
  const args = [jest, "--config", JSON.stringify(config)];
  return spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 });
};

const runFile = (text: string) => runFiles([text]);

test("runs the files of a folder in one process, ordered by name", () => {
  const { stderr } = runFiles([
    `test("first", () => void (globalThis.firstPid = process.pid));`,
    `test("second", () => expect(globalThis.firstPid).toBe(process.pid));`,
  ]);
  expect(stderr).toContain("2 passed, 2 total");
});

test.each([
  ["environment", `process.env.LEFT = "1";`],
  ["listener", `process.on("SIGUSR2", () => undefined);`],
  ["open handle", `setInterval(() => undefined, 1_000);`],
  ["telemetry", `globalThis[Symbol.for("opentelemetry.js.api.1")] = {};`],
])("runs no other file in a process that a file leaves with a changed %s", (_case, leak) => {
  const { stderr } = runFiles([
    `test("first", () => { globalThis.isUsed = true; ${leak} });`,
    `test("second", () => expect(globalThis.isUsed).toBeUndefined());`,
  ]);
  expect(stderr).toContain("2 passed, 2 total");
});

test("names a file whose process does not end, and still counts its results", () => {
  const { status, stderr } = runFile(`
    test("passes", () => undefined);
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    process.once("exit", () => Atomics.wait(nobody, 0, 0));
  `);
  expect(stderr).toContain("killed the test process because it did not exit: ");
  expect(stderr).toContain("1 passed, 1 total");
  expect(status).toBe(0);
});

test("does not wait for a child process that holds the IPC channel of a file", () => {
  const { error, status, stderr } = runFile(`
    import { spawn } from "node:child_process";
    const channel = 3;
    const stdio = ["ignore", "ignore", "ignore", channel];
    test("passes", () => void spawn("sleep", ["150"], { stdio }));
  `);
  expect(error).toBeUndefined();
  expect(stderr).toContain("1 passed, 1 total");
  expect(status).toBe(0);
});

test("fails a file whose process ends before its tests do", () => {
  const { status, stderr } = runFile(`test("goes", () => process.exit(0));`);
  expect(stderr).toContain("the test process exited before its tests ended (0)");
  expect(status).toBe(1);
});
