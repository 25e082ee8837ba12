import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CatalogueData, devnet, parseHosts, parseRpcUrls } from "@payment-links/contracts";
import { PortInUseError, listen } from "@payment-links/http";
import {
  type Environment,
  type Log,
  type StopList,
  createConfigError,
  readSecret,
} from "@payment-links/runtime";
import {
  type LocalChainName,
  getChainId,
  knownLocalChains,
  localChainNames,
  getChainTitle,
} from "./known-local-chains.ts";
import type { LocalChain } from "./local-chain.ts";

type LocalChainsOptions = {
  /** The names of the chains to start. */
  names: readonly LocalChainName[];
  /** The port of the EVM chain; the others use free ports. */
  evmPort: number;
  /** The folder for the chains' state files. */
  directory: string;
  stopList: StopList;
  log: Log;
  printLine: (line: string) => void;
};

/**
 * Starts development chains in parallel, with their state in the data folder. A chain that fails to
 * start is reported and skipped.
 */
export const startLocalChains = async (options: LocalChainsOptions): Promise<LocalChain[]> => {
  const startedChains = await Promise.all(options.names.map((name) => startChain(name, options)));
  return startedChains.filter((chain) => chain !== undefined);
};

const startChain = async (
  name: LocalChainName,
  { evmPort, directory, stopList, log, printLine }: LocalChainsOptions,
): Promise<LocalChain | undefined> => {
  const title = getChainTitle(name);
  const { start, stateFile } = knownLocalChains[name];
  try {
    const port = name === "local-evm" ? await findFreePort(evmPort, printLine) : undefined;
    const chainOptions = {
      stateFile: join(directory, stateFile),
      ...(port === undefined ? {} : { port }),
    };
    const chain = await start({ ...chainOptions, log });
    stopList.add(name, () => chain.close());
    printLine(`${title} (chain ${chain.chainId}) at ${chain.url}`);
    return chain;
  } catch (error) {
    log.debug({ err: error, chain: name }, "could not start a local chain");
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    printLine(`${title} is not available: ${reason}`);
    return undefined;
  }
};

const findFreePort = async (
  port: number,
  printLine: LocalChainsOptions["printLine"],
): Promise<number | undefined> => {
  try {
    const probe = { handler: () => {}, host: "127.0.0.1", port, portVariable: "DEVNET_PORT" };
    await (await listen(probe)).close();
    return port;
  } catch (error) {
    if (!(error instanceof PortInUseError)) throw error;
    printLine(`Port ${port} is in use, so ${getChainTitle("local-evm")} uses another port.`);
    return undefined;
  }
};

/**
 * Returns the catalogue data of the development chains that are running or have state in the data
 * folder, because links can refer to all of them.
 */
export const localCatalogueData = (
  runningChains: readonly LocalChain[],
  directory: string,
): CatalogueData[] =>
  localChainNames
    .filter(
      (name) =>
        runningChains.some(({ chainId }) => chainId === getChainId(name)) ||
        hasStoredState(name, directory),
    )
    .map((name) => knownLocalChains[name].catalogueData);

const hasStoredState = (name: LocalChainName, directory: string): boolean => {
  const file = join(directory, knownLocalChains[name].stateFile);
  return [file, `${file}.draft`].some((path) => existsSync(path));
};

const rpcVariables = ["RPC_URLS", "EVM_RPC_URLS"] as const;

/**
 * Rejects an RPC URL for a chain id that a development chain uses, because the id would be
 * ambiguous. Throws a `ConfigError` that explains how to resolve the conflict.
 */
export const rejectConfiguredLocalChains = (
  environment: Environment,
  names: readonly LocalChainName[],
): void => {
  const hosts = parseHosts(environment["INDEPENDENT_RPC_HOSTS"] ?? "");
  if ("fault" in hosts) return;
  for (const variable of rpcVariables) {
    const urls = parseRpcUrls(readSecret(environment, variable) ?? "", hosts);
    // Ignores errors in the list, because the service that parses it reports them.
    if ("fault" in urls) continue;
    const name = names.find((localChainName) => urls.has(getChainId(localChainName)));
    if (name === undefined) continue;
    throw createConfigError([
      `${variable}: contains chain ${getChainId(name)}, which is the ${getChainTitle(name)} that npm start runs; ` +
        `remove it, or remove ${name} from DEVNET_CHAINS, or start with --no-devnet`,
    ]);
  }
};

/** Returns the environment with the development chains added to the services' variables. */
export const addLocalChainVariables = (
  environment: Environment,
  chains: readonly LocalChain[],
): Environment => {
  if (chains.length === 0) return environment;
  const chainIds = chains.map(({ chainId }) => chainId);
  const evmChainIds = chainIds.filter((id) => id === devnet.chainId);
  const urls = chains.map(({ chainId, url }) => `${chainId}=${url}`);
  return {
    ...environment,
    SETTLEMENT_CHAINS: appendEntries(environment["SETTLEMENT_CHAINS"], chainIds),
    TRANSFER_CHAINS: appendEntries(environment["TRANSFER_CHAINS"], evmChainIds),
    RPC_URLS: appendEntries(readSecret(environment, "RPC_URLS"), urls),
    RPC_URLS_FILE: undefined,
  };
};

const appendEntries = (list: string | undefined, entries: readonly string[]): string =>
  [...(list === undefined || list === "" ? [] : [list]), ...entries].join(",");
