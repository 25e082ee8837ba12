import { findTool } from "./find-tool.ts";
import { installWithApt } from "./install-with-apt.ts";

const findInstalledChromium = (): string | undefined =>
  findTool("chromium-headless-shell") ?? findTool("chromium");

/**
 * Returns the path of Chromium. If it is not installed and the user is root, installs the Debian
 * package first.
 */
export const ensureChromium = async (): Promise<string | undefined> => {
  const executablePath = findInstalledChromium();
  if (executablePath !== undefined) return executablePath;
  await installWithApt("chromium-headless-shell", ["chromium-headless-shell"]);
  return findInstalledChromium();
};
