import { findTool } from "./find-tool.ts";
import { installWithApt } from "./install-with-apt.ts";

const findInstalledChromium = (): string | undefined =>
  findTool("chromium-headless-shell") ?? findTool("chromium");

/**
 * Returns the path of the installed Chromium. If it is missing and the user is root, installs
 * Debian's package once.
 */
export const ensureChromium = async (): Promise<string | undefined> => {
  const executablePath = findInstalledChromium();
  if (executablePath !== undefined) return executablePath;
  await installWithApt("chromium-headless-shell", ["chromium-headless-shell"]);
  return findInstalledChromium();
};
