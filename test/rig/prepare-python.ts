import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { projectRoot } from "./child.ts";
import { findTool } from "./find-tool.ts";

const run = promisify(execFile);

/** A Python with the tools of `packages/sdk-python`. */
export type PythonTools = {
  /** The interpreter in whose environment the tools are installed. */
  python: string;
  /** Variables with which pip installs the same versions, without the network. */
  pipEnv: Readonly<Record<string, string>>;
};

const requirementsFile = join(projectRoot, "packages/sdk-python/requirements.txt");
const installMsMax = hangLimitMs(60_000);
const versionScript = `
import ensurepip, sys, venv
sys.exit(sys.version_info < (3, 10))`;

/** Returns Python 3.10 or later that can create environments, or undefined if there is none. */
export const findPython = async (): Promise<string | undefined> => {
  const python = findTool("python3");
  if (python === undefined) return undefined;
  return await run(python, ["-c", versionScript]).then(
    () => python,
    () => undefined,
  );
};

/**
 * Installs the pinned tools of `packages/sdk-python`, whose hashes pip checks. Installs them in a
 * temporary folder and renames it at the end, so concurrent or killed runs never leave an
 * incomplete one. The folder is outside the repository, one for each version of the tools.
 */
export const preparePython = async (python: string): Promise<PythonTools> => {
  const folder = await findCacheFolder(python);
  if (!existsSync(folder)) {
    await mkdir(dirname(folder), { recursive: true });
    const tempFolder = await mkdtemp(`${folder}-`);
    try {
      await installTools(python, tempFolder);
      await rename(tempFolder, folder).catch((error: unknown) => {
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(tempFolder, { recursive: true, force: true });
    }
  }
  return { python: toInterpreter(folder), pipEnv: buildPipEnv(folder) };
};

const findCacheFolder = async (python: string): Promise<string> => {
  const version = await run(python, ["-c", "import sys; print(sys.version, sys.executable)"]);
  const hash = createHash("sha256")
    .update(version.stdout)
    .update(await readFile(requirementsFile));
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "payment-links", `python-${hash.digest("hex").slice(0, 16)}`);
};

const installTools = async (python: string, folder: string): Promise<void> => {
  const options = { timeout: installMsMax };
  const requirements = ["--require-hashes", "--requirement", requirementsFile];
  await run(python, ["-m", "venv", join(folder, "environment")], options);
  const pip = [toInterpreter(folder), "-m", "pip", "--quiet", "--disable-pip-version-check"];
  const runPip = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const [program = "", ...pipArgs] = [...pip, ...args];
    await run(program, pipArgs, { ...options, env: { ...process.env, ...env } });
  };
  const wheels = join(folder, "wheels");
  await runPip(["download", "--only-binary", ":all:", "--dest", wheels, ...requirements]);
  await runPip(["install", ...requirements], buildPipEnv(folder));
};

/** A renamed environment works, except for the scripts that contain its path. */
const toInterpreter = (folder: string): string => join(folder, "environment/bin/python");

const buildPipEnv = (folder: string): Readonly<Record<string, string>> => ({
  PIP_NO_INDEX: "1",
  PIP_FIND_LINKS: join(folder, "wheels"),
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
});
