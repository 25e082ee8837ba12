import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Child, startChild, waitReady } from "./child.ts";
import { findFreePorts } from "./free-port.ts";

/** A new data folder and new ports for each test, and the all-in-one processes that it starts there. */
export const useDataFolder = () => {
  let children: Child[] = [];
  const folder = {
    dataDir: "",
    port: 0,
    internalPort: 0,
    baseUrl: "",
    internalUrl: "",
    start: (env: Record<string, string> = {}, args = ["--no-devnet"]): Child => {
      const common = {
        DATA_DIR: folder.dataDir,
        PORT: String(folder.port),
        INTERNAL_PORT: String(folder.internalPort),
        LOG_LEVEL: "warn",
      };
      const child = startChild("deploy/src/main.ts", { ...common, ...env }, args);
      children.push(child);
      return child;
    },
    /** Starts it and waits until it says that it is ready. */
    startAndWait: async (env: Record<string, string> = {}, args?: string[]): Promise<Child> => {
      const child = folder.start(env, args);
      await waitReady(child, folder.internalPort);
      await waitUntil("the all-in-one says that it is ready", () => {
        if (!child.isRunning()) throw new Error(child.output());
        return child.output().includes("Payment Links is ready");
      });
      return child;
    },
  };
  beforeEach(async () => {
    folder.dataDir = await mkdtemp(join(tmpdir(), "payment-links-"));
    await chmod(folder.dataDir, 0o755);
    [folder.port = 0, folder.internalPort = 0] = await findFreePorts(2);
    folder.baseUrl = `http://127.0.0.1:${folder.port}`;
    folder.internalUrl = `http://127.0.0.1:${folder.internalPort}`;
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.end("SIGTERM")));
    children = [];
    await rm(folder.dataDir, { recursive: true, force: true });
  });
  return folder;
};
