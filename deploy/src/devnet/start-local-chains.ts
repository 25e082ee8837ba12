import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CatalogueData, devnet, parseHosts, parseRpcUrls } from "@payment-links/contracts";
import { PortTakenError, listen } from "@payment-links/http";
import {
  type Environment,
  type Log,
  type StopList,
  configError,
  readSecret,
} from "@payment-links/runtime";
import {
  type LocalChainName,
  chainIdOf,
  knownLocalChains,
  localChainNames,
  titleOf,
} from "./known-local-chains.ts";
import type { LocalChain } from "./local-chain.ts";

type LocalChainsOptions = {
  /** Which of them are wanted. */
  names: readonly LocalChainName[];
  /** The port of the EVM one; the others have free ones. */
  evmPort: number;
  /** Where their states are kept. */
  directory: string;
  stopList: StopList;
  log: Log;
  say: (line: string) => void;
};

/**
 * Starts development chains beside the services, all at once, with their states in the data folder.
 * One that cannot be started is told of and left out: everything else works without it.
 */
export const startLocalChains = async (options: LocalChainsOptions): Promise<LocalChain[]> => {
  const started = await Promise.all(options.names.map((name) => startChain(name, options)));
  return started.filter((chain) => chain !== undefined);
};

const startChain = async (
  name: LocalChainName,
  { evmPort, directory, stopList, log, say }: LocalChainsOptions,
): Promise<LocalChain | undefined> => {
  const title = titleOf(name);
  const { open, stateFile } = knownLocalChains[name];
  try {
    const port = name === "local-evm" ? await portIfFree(evmPort, say) : undefined;
    const place = {
      stateFile: join(directory, stateFile),
      ...(port === undefined ? {} : { port }),
    };
    const chain = await open({ ...place, log });
    stopList.add(name, () => chain.close());
    say(`${title} (chain ${chain.chainId}) at ${chain.url}`);
    return chain;
  } catch (error) {
    log.debug({ err: error, chain: name }, "a local chain did not start");
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    say(`There is no ${title}: ${reason}`);
    return undefined;
  }
};

const portIfFree = async (
  port: number,
  say: LocalChainsOptions["say"],
): Promise<number | undefined> => {
  try {
    const probe = { handler: () => {}, host: "127.0.0.1", port, variable: "DEVNET_PORT" };
    await (await listen(probe)).close();
    return port;
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error;
    say(`Port ${port} is taken, so the ${titleOf("local-evm")} has another.`);
    return undefined;
  }
};

/**
 * What the catalogue has of the development chains that run, and of those that a data folder has ever had, so
 * that it may contain links on them.
 */
export const localCatalogueData = (
  running: readonly LocalChain[],
  directory: string,
): CatalogueData[] =>
  localChainNames
    .filter(
      (name) =>
        running.some(({ chainId }) => chainId === chainIdOf(name)) || hasHad(name, directory),
    )
    .map((name) => knownLocalChains[name].catalogueData);

const hasHad = (name: LocalChainName, directory: string): boolean => {
  const file = join(directory, knownLocalChains[name].stateFile);
  return [file, `${file}.draft`].some((path) => existsSync(path));
};

const rpcVariables = ["RPC_URLS", "EVM_RPC_URLS"] as const;

/**
 * Refuses an operator's own node under the id of a development chain that is wanted: two chains would
 * have one name. Throws ConfigError, which says which of them may go.
 */
export const refuseNamedTwice = (
  environment: Environment,
  names: readonly LocalChainName[],
): void => {
  const hosts = parseHosts(environment["INDEPENDENT_RPC_HOSTS"] ?? "");
  if ("fault" in hosts) return;
  for (const variable of rpcVariables) {
    const urls = parseRpcUrls(readSecret(environment, variable) ?? "", hosts);
    // What is wrong with the list itself is told by the service that reads it.
    if ("fault" in urls) continue;
    const name = names.find((one) => urls.has(chainIdOf(one)));
    if (name === undefined) continue;
    throw configError([
      `${variable}: names chain ${chainIdOf(name)}, which is the ${titleOf(name)} that is started here; ` +
        `take it out, or leave ${name} out of DEVNET_CHAINS, or start with --no-devnet`,
    ]);
  }
};

/** The services' own variables, with the development chains among the chains they know. */
export const withLocalChains = (
  environment: Environment,
  chains: readonly LocalChain[],
): Environment => {
  if (chains.length === 0) return environment;
  const ids = chains.map(({ chainId }) => chainId);
  const evmIds = ids.filter((id) => id === devnet.chainId);
  const urls = chains.map(({ chainId, url }) => `${chainId}=${url}`);
  return {
    ...environment,
    SETTLEMENT_CHAINS: append(environment["SETTLEMENT_CHAINS"], ids),
    TRANSFER_CHAINS: append(environment["TRANSFER_CHAINS"], evmIds),
    RPC_URLS: append(readSecret(environment, "RPC_URLS"), urls),
    RPC_URLS_FILE: undefined,
  };
};

const append = (list: string | undefined, entries: readonly string[]): string =>
  [...(list === undefined || list === "" ? [] : [list]), ...entries].join(",");
