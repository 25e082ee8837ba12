import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { consoleDirectory } from "./console-directory.ts";

const packageDirectory = fileURLToPath(new URL("..", import.meta.url));
const repositoryRoot = fileURLToPath(new URL("../../..", import.meta.url));
const buildMsMax = 300_000;

/** The file with the digest of the sources that the console was built from. */
export const digestFile = join(consoleDirectory, "sources.sha256");

type BuildOptions = {
  env: Readonly<Record<string, string | undefined>>;
  report: (line: string) => void;
};

/**
 * Builds the console if the build is missing or outdated. Does not touch an up-to-date build, so
 * many processes can call this at the same time.
 */
export const ensureConsoleBuilt = async ({ env, report }: BuildOptions): Promise<void> => {
  if (isBuilt()) return;
  report("building the console");
  await promisify(execFile)(process.execPath, [join(packageDirectory, "build.ts")], {
    cwd: packageDirectory,
    // React uses its development build for every other value of this variable.
    env: { ...env, NODE_ENV: "production" },
    timeout: buildMsMax,
  }).catch((error: unknown) => {
    // Another process may have finished the same build in the meantime.
    if (!isBuilt()) throw error;
  });
};

const isBuilt = (): boolean =>
  existsSync(digestFile) && readFileSync(digestFile, "utf8") === digestSources();

/**
 * Returns a digest of everything that the build depends on: sources, configuration and package
 * versions.
 */
export const digestSources = (): string => {
  const hash = createHash("sha256");
  const sources = [
    join(packageDirectory, "app"),
    join(repositoryRoot, "packages/design"),
    join(repositoryRoot, "packages/chains/src/browser-wallets"),
  ]
    .flatMap((directory) => readdirSync(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
  const packageFiles = ["vite.config.ts", "build.ts", "package.json"].map((name) =>
    join(packageDirectory, name),
  );
  const rootFiles = ["package-lock.json", "tsconfig.json"].map((name) =>
    join(repositoryRoot, name),
  );
  const files = [...sources, ...packageFiles, ...rootFiles];
  for (const file of files.toSorted()) {
    hash
      .update(`${relative(packageDirectory, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
};
