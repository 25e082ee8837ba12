// What has changed since `main`, uncommitted and unknown files included, and which tests that may
// concern.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findUsers } from "./imports.mjs";
import { root } from "./jest/jest.mjs";

/** Files that every test depends on. */
const common = ["package-lock.json", "jest.config.js", "test/jest/"];
const gitBytesMax = 100_000_000;

const git = async (...args) => {
  const { stdout } = await promisify(execFile)("git", args, { cwd: root, maxBuffer: gitBytesMax });
  return stdout.split("\n").filter((line) => line !== "");
};

/** The changed files and the tests that they may concern, or the reason why that cannot be known. */
export const listChangedTests = async () => {
  const files = await listChangedFiles().catch(() => undefined);
  if (files === undefined) return { reason: "there is no git, or no main to compare with" };
  const shared = files.find((file) => common.some((start) => file.startsWith(start)));
  if (shared !== undefined) return { reason: `${shared} has changed` };
  const modules = await findModules(files);
  const tests = modules.length === 0 ? [] : await findUsers(...modules);
  return { files, tests };
};

const listChangedFiles = async () => {
  const [main] = await git("rev-parse", "--verify", "--quiet", "main").catch(() =>
    git("rev-parse", "--verify", "--quiet", "origin/main"),
  );
  const [base] = await git("merge-base", "HEAD", main);
  const changed = await git("diff", "--name-only", "--no-renames", base);
  const unknown = await git("ls-files", "--others", "--exclude-standard");
  return [...new Set([...changed, ...unknown])];
};

/**
 * Jest knows who uses a module. Any other file, or a deleted one, may concern its whole workspace.
 */
const findModules = async (files) => {
  const modules = new Set();
  for (const file of files) {
    // A whole-set test concerns itself.
    if (/^test\/.*\.test\.ts$/.test(file)) modules.add(file);
    const workspace = /^(packages|services)\/[^/]+\/|^deploy\//.exec(file)?.[0];
    if (workspace === undefined || file.endsWith(".md")) continue;
    const isModule = file.endsWith(".ts") && existsSync(join(root, file));
    const concerned = isModule ? [file] : await git("ls-files", `${workspace}src/*.ts`);
    for (const one of concerned) modules.add(one);
  }
  return [...modules].filter((one) => existsSync(join(root, one)));
};
