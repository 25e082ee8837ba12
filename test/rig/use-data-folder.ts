import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { type Child, startChild, waitUntilReady } from "./child.ts";

/** Provides a new data folder and new ports for each test, and starts all-in-one processes there. */
export const useDataFolder = () => {
  let children: Child[] = [];
  const dataFolder = {
    dataDir: "",
    port: 0,
    internalPort: 0,
    baseUrl: "",
    internalUrl: "",
    start: (env: Record<string, string> = {}, args = ["--no-devnet"]): Child => {
      const commonEnv = {
        DATA_DIR: dataFolder.dataDir,
        PORT: String(dataFolder.port),
        INTERNAL_PORT: String(dataFolder.internalPort),
        LOG_LEVEL: "warn",
      };
      const child = startChild("deploy/src/main.ts", { ...commonEnv, ...env }, args);
      children.push(child);
      return child;
    },
    /** Starts the all-in-one and waits until it reports that it is ready. */
    startAndWait: async (env: Record<string, string> = {}, args?: string[]): Promise<Child> => {
      const child = dataFolder.start(env, args);
      await waitUntilReady(child, dataFolder.internalPort);
      await waitUntil("the all-in-one is ready", () => {
        if (!child.isRunning()) throw new Error(child.output());
        return child.output().includes("Payment Links is ready");
      });
      return child;
    },
  };
  beforeEach(async () => {
    dataFolder.dataDir = await mkdtemp(join(tmpdir(), "payment-links-"));
    await chmod(dataFolder.dataDir, 0o755);
    [dataFolder.port = 0, dataFolder.internalPort = 0] = await findFreePorts(2);
    dataFolder.baseUrl = `http://127.0.0.1:${dataFolder.port}`;
    dataFolder.internalUrl = `http://127.0.0.1:${dataFolder.internalPort}`;
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.terminate("SIGTERM")));
    children = [];
    await rm(dataFolder.dataDir, { recursive: true, force: true });
  });
  return dataFolder;
};
