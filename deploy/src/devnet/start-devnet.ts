import { existsSync } from "node:fs";
import { devnet } from "@payment-links/contracts";
import { type InternalRoute, PortTakenError, answerJson, listen } from "@payment-links/http";
import { type Environment, type Log, type StopList, readSecret } from "@payment-links/runtime";

type DevnetOptions = {
  port: number;
  stateFile: string;
  stopList: StopList;
  log: Log;
  say: (line: string) => void;
};

/**
 * Starts the development chain beside the services, with its state in the data folder; answers its
 * RPC address. If it cannot be started, says so and answers undefined: everything else works
 * without it.
 */
export const startDevnet = async ({
  port,
  stateFile,
  stopList,
  log,
  say,
}: DevnetOptions): Promise<string | undefined> => {
  try {
    // Its node and its contracts are devDependencies, which a production image leaves out.
    const { openDevnet } = await import("./open-devnet.ts");
    const isFree = await isPortFree(port);
    const chain = await openDevnet({ ...(isFree ? { port } : {}), stateFile, log });
    stopList.add("devnet", () => chain.close());
    if (!isFree) say(`Port ${port} is taken, so the local devnet has another.`);
    say(`Local devnet (chain ${devnet.chainId}) at ${chain.url}`);
    return chain.url;
  } catch (error) {
    log.debug({ err: error }, "the local devnet did not start");
    say(`There is no local devnet: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
};

/** Whether a data folder has ever had a development chain, so that it may contain links on it. */
export const hasHadDevnet = (stateFile: string): boolean =>
  [stateFile, `${stateFile}.draft`].some((file) => existsSync(file));

const isPortFree = async (port: number): Promise<boolean> => {
  try {
    const probe = { handler: () => {}, host: "127.0.0.1", port, variable: "DEVNET_PORT" };
    await (await listen(probe)).close();
    return true;
  } catch (error) {
    if (error instanceof PortTakenError) return false;
    throw error;
  }
};

/** The services' own variables, with the development chain among the chains they know. */
export const withDevnetChain = (environment: Environment, url: string): Environment => ({
  ...environment,
  SETTLEMENT_CHAINS: append(environment["SETTLEMENT_CHAINS"], devnet.chainId),
  EVM_RPC_URLS: append(readSecret(environment, "EVM_RPC_URLS"), `${devnet.chainId}=${url}`),
  EVM_RPC_URLS_FILE: undefined,
});

const append = (list: string | undefined, entry: string): string =>
  list === undefined || list === "" ? entry : `${list},${entry}`;

/**
 * GET /internal/devnet: where `admin devnet pay` finds the chain, and this process's public port.
 */
export const devnetRoute = (urls: { rpcUrl: string; publicUrl: string }): InternalRoute => ({
  method: "get",
  path: "/internal/devnet",
  handle: (_req, res) => answerJson(res, 200, urls),
});
