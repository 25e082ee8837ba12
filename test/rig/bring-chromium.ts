import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findTool } from "./find-tool.ts";

const run = promisify(execFile);

const installMsMax = 300_000;

/**
 * One after the other, as several test files may want it at once; the second finds it installed.
 * The lock is apt's own folder: it is there on every Debian, and what is locked stays as it is.
 */
const install = `exec flock /var/cache/apt sh -c '
command -v chromium-headless-shell && exit
apt-get -qq update && apt-get -qq install --no-install-recommends chromium-headless-shell'`;

const findInstalled = (): string | undefined =>
  findTool("chromium-headless-shell") ?? findTool("chromium");

/** A Chromium of this machine: the one that is there, or Debian's, which root installs once. */
export const bringChromium = async (): Promise<string | undefined> => {
  const found = findInstalled();
  const isInstallable = process.getuid?.() === 0 && findTool("apt-get") && findTool("flock");
  if (found !== undefined || !isInstallable) return found;
  process.stderr.write("installing Debian's chromium-headless-shell, this once\n");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("sh", ["-c", install], { timeout: installMsMax, env }).catch((error: Error) => {
    process.stderr.write(`chromium-headless-shell was not installed: ${error.message}\n`);
  });
  return findInstalled();
};
