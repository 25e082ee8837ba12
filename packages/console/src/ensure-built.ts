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

/** The file that tells of which sources the console was built. */
export const digestFile = join(consoleDirectory, "sources.sha256");

type BuildOptions = {
  env: Readonly<Record<string, string | undefined>>;
  report: (line: string) => void;
};

/**
 * Builds the console if it is not there or not of these sources. What is there and right is not
 * touched, so that many may ask at once.
 */
export const ensureConsoleBuilt = async ({ env, report }: BuildOptions): Promise<void> => {
  if (isBuilt()) return;
  report("building the console");
  await promisify(execFile)(process.execPath, [join(packageDirectory, "build.ts")], {
    cwd: packageDirectory,
    // React has another build for every other value.
    env: { ...env, NODE_ENV: "production" },
    timeout: buildMsMax,
  }).catch((error: unknown) => {
    // Another process may have built it meanwhile.
    if (!isBuilt()) throw error;
  });
};

const isBuilt = (): boolean =>
  existsSync(digestFile) && readFileSync(digestFile, "utf8") === digestSources();

/** Tells the sources apart from any others: what is built, and by which versions of what. */
export const digestSources = (): string => {
  const hash = createHash("sha256");
  const sources = readdirSync(join(packageDirectory, "app"), {
    recursive: true,
    withFileTypes: true,
  })
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
