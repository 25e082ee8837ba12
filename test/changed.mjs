// Lists the files that changed since `main`, including uncommitted and untracked files, and the
// tests that these changes can affect.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { findImportingTests } from "./imports.mjs";
import { root } from "./jest/jest.mjs";

/** Files that every test depends on. */
const sharedPaths = ["package-lock.json", "jest.config.js", "test/jest/"];
const gitBytesMax = 100_000_000;

const runGit = async (...args) => {
  const { stdout } = await promisify(execFile)("git", args, { cwd: root, maxBuffer: gitBytesMax });
  return stdout.split("\n").filter((line) => line !== "");
};

/**
 * Returns the changed files and the tests that they can affect, or the reason why the tests are
 * unknown.
 */
export const listChangedTests = async () => {
  const changedFiles = await listChangedFiles().catch(() => undefined);
  if (changedFiles === undefined) return { reason: "git or the branch main is missing" };
  const sharedFile = changedFiles.find((file) =>
    sharedPaths.some((prefix) => file.startsWith(prefix)),
  );
  if (sharedFile !== undefined) return { reason: `${sharedFile} has changed` };
  const modules = await findAffectedModules(changedFiles);
  const importingTests = modules.length === 0 ? [] : await findImportingTests(...modules);
  const readingTests = await Promise.all(
    changedFiles.filter((file) => file.endsWith(".md")).map(findReadingTests),
  );
  const tests = [...new Set([...importingTests, ...readingTests.flat()])];
  return { files: changedFiles, tests };
};

const listChangedFiles = async () => {
  const [mainCommit] = await runGit("rev-parse", "--verify", "--quiet", "main").catch(() =>
    runGit("rev-parse", "--verify", "--quiet", "origin/main"),
  );
  const [mergeBase] = await runGit("merge-base", "HEAD", mainCommit);
  const trackedChanges = await runGit("diff", "--name-only", "--no-renames", mergeBase);
  const untrackedFiles = await runGit("ls-files", "--others", "--exclude-standard");
  return [...new Set([...trackedChanges, ...untrackedFiles])];
};

const workspacePattern = /^(packages|services)\/[^/]+\/|^deploy\//;

/**
 * Returns the tests that can read a document: those that name it with its folder, and those of its
 * workspace that name it.
 */
const findReadingTests = async (document) => {
  const name = basename(document);
  const workspace = workspacePattern.exec(document)?.[0] ?? "";
  const listNamingTests = (text, folder) =>
    runGit("grep", "--untracked", "-lF", "-e", text, "--", `${folder}*.test.ts`).catch(() => []);
  const tests = await Promise.all([
    listNamingTests(`${basename(dirname(document))}/${name}`, ""),
    listNamingTests(name, workspace),
  ]);
  return tests.flat();
};

/**
 * Returns the modules that the changes can affect. Jest can find the tests that import a TypeScript
 * module. Any other file, or a deleted module, can affect its whole workspace.
 */
const findAffectedModules = async (changedFiles) => {
  const modules = new Set();
  for (const changedFile of changedFiles) {
    // A test of the whole system affects only itself.
    if (/^test\/.*\.test\.ts$/.test(changedFile)) modules.add(changedFile);
    const workspace = workspacePattern.exec(changedFile)?.[0];
    if (workspace === undefined || changedFile.endsWith(".md")) continue;
    const isExistingModule = changedFile.endsWith(".ts") && existsSync(join(root, changedFile));
    const affectedModules = isExistingModule
      ? [changedFile]
      : await runGit("ls-files", `${workspace}src/*.ts`);
    for (const module of affectedModules) modules.add(module);
  }
  return [...modules].filter((module) => existsSync(join(root, module)));
};
