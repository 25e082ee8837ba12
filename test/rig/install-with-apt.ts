import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findTool } from "./find-tool.ts";

const run = promisify(execFile);

const installMsMax = 300_000;

/**
 * Serializes installs, because several processes can need the program at the same time. The second
 * process then finds it installed. The lock is on apt's cache folder, which exists on every Debian
 * system. Locking does not modify the folder.
 */
const installScript = `exec flock /var/cache/apt sh -c '
command -v "$0" && exit
apt-get -qq update && apt-get -qq install --no-install-recommends "$@"' "$@"`;

/**
 * Installs Debian packages if the user is root and apt is available. Errors only go to stderr,
 * because the caller then searches for the program again.
 */
export const installWithApt = async (
  program: string,
  packages: readonly string[],
): Promise<void> => {
  const canInstall = process.getuid?.() === 0 && findTool("apt-get") && findTool("flock");
  if (!canInstall) return;
  const packageNames = packages.join(" and ");
  process.stderr.write(`installing ${packageNames} from Debian\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { timeout: installMsMax, env };
  await run("sh", ["-c", installScript, "sh", program, ...packages], options).catch(
    (error: Error) => {
      process.stderr.write(`${packageNames} could not be installed: ${error.message}\n`);
    },
  );
};
