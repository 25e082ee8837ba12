import { findTool } from "./find-tool.ts";
import { installWithApt } from "./install-with-apt.ts";

const findInstalled = (): string | undefined =>
  findTool("chromium-headless-shell") ?? findTool("chromium");

/** A Chromium of this machine: the one that is there, or Debian's, which root installs once. */
export const bringChromium = async (): Promise<string | undefined> => {
  const found = findInstalled();
  if (found !== undefined) return found;
  await installWithApt("chromium-headless-shell", ["chromium-headless-shell"]);
  return findInstalled();
};
