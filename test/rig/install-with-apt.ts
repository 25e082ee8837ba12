import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findTool } from "./find-tool.ts";

const run = promisify(execFile);

const installMsMax = 300_000;

/**
 * One after the other, as several processes may want the program at once; the second finds it.
 * The lock is apt's own folder: it is there on every Debian, and what is locked stays as it is.
 */
const installScript = `exec flock /var/cache/apt sh -c '
command -v "$0" && exit
apt-get -qq update && apt-get -qq install --no-install-recommends "$@"' "$@"`;

/**
 * Installs a program of Debian by its packages, if this is root and apt is there. A failure goes to
 * stderr: the caller looks for the program again.
 */
export const installWithApt = async (
  program: string,
  packages: readonly string[],
): Promise<void> => {
  const canInstall = process.getuid?.() === 0 && findTool("apt-get") && findTool("flock");
  if (!canInstall) return;
  const packageNames = packages.join(" and ");
  process.stderr.write(`installing Debian's ${packageNames}, this once\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { timeout: installMsMax, env };
  await run("sh", ["-c", installScript, "sh", program, ...packages], options).catch(
    (error: Error) => {
      process.stderr.write(`${packageNames} could not be installed: ${error.message}\n`);
    },
  );
};
