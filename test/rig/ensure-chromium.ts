import { findTool } from "./find-tool.ts";
import { installWithApt } from "./install-with-apt.ts";

const findInstalledChromium = (): string | undefined =>
  findTool("chromium-headless-shell") ?? findTool("chromium");

/** A Chromium of this machine: the one that is there, or Debian's, which root installs once. */
export const ensureChromium = async (): Promise<string | undefined> => {
  const executablePath = findInstalledChromium();
  if (executablePath !== undefined) return executablePath;
  await installWithApt("chromium-headless-shell", ["chromium-headless-shell"]);
  return findInstalledChromium();
};
