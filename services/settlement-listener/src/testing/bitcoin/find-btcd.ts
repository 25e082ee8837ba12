import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const goModule = "github.com/btcsuite/btcd";
const version = "v0.26.2";
/** On a machine that does other things too it was four minutes. */
const buildMsMax = 1_200_000;

/** Why there is no Bitcoin node, in words that stand beside a test's title. */
export type Missing = { missing: string };

/**
 * The Bitcoin node's program: the one that BTCD_BIN names, the one on PATH, or the one that was built
 * into the cache; undefined if there is none.
 */
export const findBtcd = (): string | undefined => {
  const given = process.env["BTCD_BIN"];
  if (given !== undefined && given !== "") return given;
  return [findOnPath("btcd"), builtBtcd()].find((path) => path !== undefined && isProgram(path));
};

/**
 * The same, built first where Go is installed: with no other means is it to be had. It is built aside
 * and renamed, so that two builds at once, or one that is killed, leave no half of it.
 */
export const bringBtcd = async (): Promise<string | Missing> => {
  const found = findBtcd();
  if (found !== undefined) return found;
  const go = findOnPath("go");
  if (go === undefined) return { missing: "no btcd, and no Go to build it" };
  const built = builtBtcd();
  await mkdir(dirname(dirname(built)), { recursive: true });
  const draft = await mkdtemp(`${dirname(built)}-`);
  try {
    const env = { ...process.env, GOBIN: draft, GOFLAGS: "" };
    await run(go, ["install", `${goModule}@${version}`], { env, timeout: buildMsMax });
    await rename(draft, dirname(built)).catch((error: unknown) => {
      if (!isProgram(built)) throw error;
    });
    return built;
  } catch {
    return { missing: `btcd ${version} could not be built` };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** Outside the clone, with one folder for each version. */
const builtBtcd = (): string => {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "payment-links", `btcd-${version}`, "btcd");
};

const findOnPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isProgram);

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
