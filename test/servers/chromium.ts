import { chromium } from "playwright-core";
import { ensureChromium } from "../rig/ensure-chromium.ts";
import { launchOptions } from "../rig/chromium.ts";
import type { StartServer } from "./child-server.ts";

/** Returns a function that starts one Chromium for all test files, or undefined if none can be installed. */
export const findChromiumServer = async (): Promise<StartServer | undefined> => {
  const executablePath = await ensureChromium();
  if (executablePath === undefined) return undefined;
  return async () => {
    const server = await chromium.launchServer({ ...launchOptions, executablePath });
    return {
      url: server.wsEndpoint(),
      stop: () => server.close(),
      stopTemporarily: async () => {
        throw new Error("the shared Chromium cannot be stopped by a test");
      },
    };
  };
};
