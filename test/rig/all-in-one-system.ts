import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { type Child, startChild, waitUntilReady } from "./child.ts";
import type { System } from "./system.ts";

/**
 * Starts the all-in-one as `npm start` does, with a new data folder. Does not start development
 * chains by default. With `withDevnet`, starts the EVM development chain.
 */
export const startAllInOneSystem = async (
  env: Record<string, string>,
  { withDevnet = false }: { withDevnet?: boolean } = {},
): Promise<System & { pid: number }> => {
  const dataDir = await mkdtemp(join(tmpdir(), "payment-links-"));
  // If root starts Postgres, Postgres runs as another user. This user needs access to the
  // directory.
  await chmod(dataDir, 0o755);
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const ports = { PORT: String(port), INTERNAL_PORT: String(internalPort) };
  const child: Child = startChild(
    "deploy/src/main.ts",
    { DATA_DIR: dataDir, DEVNET_CHAINS: "local-evm", LOG_LEVEL: "warn", ...ports, ...env },
    withDevnet ? [] : ["--no-devnet"],
  );
  await waitUntilReady(child, internalPort);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    pid: child.pid,
    output: () => child.output(),
    close: async () => {
      await child.terminate("SIGTERM");
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
