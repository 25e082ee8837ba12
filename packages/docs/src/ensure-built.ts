import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { docsDirectory } from "./docs-directory.ts";

const packageDirectory = fileURLToPath(new URL("..", import.meta.url));
const repositoryRoot = fileURLToPath(new URL("../../..", import.meta.url));
const buildMsMax = 120_000;

/** The file with the digest of the sources that the docs were built from. */
export const digestFile = join(docsDirectory, "sources.sha256");

type BuildOptions = {
  env: Readonly<Record<string, string | undefined>>;
  report: (line: string) => void;
};

/**
 * Builds the docs if the build is missing or outdated. Does not touch an up-to-date build, so many
 * processes can call this at the same time.
 */
export const ensureDocsBuilt = async ({ env, report }: BuildOptions): Promise<void> => {
  if (isBuilt()) return;
  report("building the docs");
  await promisify(execFile)(process.execPath, [join(packageDirectory, "build.ts")], {
    cwd: packageDirectory,
    env: { ...env },
    timeout: buildMsMax,
  }).catch((error: unknown) => {
    // Another process may have finished the same build in the meantime.
    if (!isBuilt()) throw error;
  });
};

const isBuilt = (): boolean =>
  existsSync(digestFile) && readFileSync(digestFile, "utf8") === digestSources();

/** Returns a digest of everything that the build depends on. */
export const digestSources = (): string => {
  const hash = createHash("sha256");
  const folders = [
    "app",
    "content",
    "generated",
    "receivers",
    "src",
    "../design",
    "../contracts/src",
  ];
  const files = [
    ...folders
      .map((folder) => join(packageDirectory, folder))
      .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .map((entry) => join(entry.parentPath, entry.name)),
    join(packageDirectory, "build.ts"),
    join(packageDirectory, "package.json"),
    join(repositoryRoot, "package-lock.json"),
  ];
  for (const file of files.toSorted()) {
    hash
      .update(`${relative(packageDirectory, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
};
