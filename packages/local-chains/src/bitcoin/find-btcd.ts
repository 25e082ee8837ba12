import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const execFileAsync = promisify(execFile);

const goModule = "github.com/btcsuite/btcd";
const version = "v0.26.2";
/** The time limit for the build. It took 4 minutes on a busy machine. */
const buildMsMax = 1_200_000;

/** The reason why there is no Bitcoin node. It is added to the titles of skipped tests. */
export type MissingProgram = { reason: string };

/**
 * Returns the path of the Bitcoin node. It is the one in `BTCD_BIN`, the one on `PATH`, or the one
 * built into the cache. Returns undefined if there is none.
 */
export const findBtcd = (): string | undefined => {
  const configuredPath = process.env["BTCD_BIN"];
  if (configuredPath !== undefined && configuredPath !== "") return configuredPath;
  return [findOnPath("btcd"), getBuiltBtcdPath()].find(
    (path) => path !== undefined && isExecutableFile(path),
  );
};

/**
 * Returns the path of the node like `findBtcd`. If there is none and Go is installed, builds it,
 * because btcd is not in a package registry. Builds in a temporary folder and renames that folder
 * at the end, so concurrent or killed builds never leave an incomplete node.
 */
export const findOrBuildBtcd = async (): Promise<string | MissingProgram> => {
  const existingPath = findBtcd();
  if (existingPath !== undefined) return existingPath;
  const go = findOnPath("go");
  if (go === undefined) return { reason: "no btcd, and no Go to build it" };
  const builtPath = getBuiltBtcdPath();
  await mkdir(dirname(dirname(builtPath)), { recursive: true });
  const tempFolder = await mkdtemp(`${dirname(builtPath)}-`);
  try {
    const env = { ...process.env, GOBIN: tempFolder, GOFLAGS: "" };
    await execFileAsync(go, ["install", `${goModule}@${version}`], { env, timeout: buildMsMax });
    await rename(tempFolder, dirname(builtPath)).catch((error: unknown) => {
      if (!isExecutableFile(builtPath)) throw error;
    });
    return builtPath;
  } catch {
    return { reason: `btcd ${version} could not be built` };
  } finally {
    await rm(tempFolder, { recursive: true, force: true });
  }
};

/** Returns the path of the built node. It is outside the repository, in a folder per version. */
const getBuiltBtcdPath = (): string => {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "payment-links", `btcd-${version}`, "btcd");
};

const findOnPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutableFile);

const isExecutableFile = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
