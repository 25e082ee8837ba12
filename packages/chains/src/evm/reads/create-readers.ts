import { isAddress } from "viem";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import type { Dialect } from "../../rpc/provider.ts";
import type { CreateReaders } from "../../reads/watched-chain.ts";
import { classifyError } from "./classify-error.ts";
import { type EvmChain, listContracts, toEvmChain, listProxyEvents } from "./evm-chain.ts";
import { createEvmReader } from "./evm-reader.ts";
import { evmSettings } from "./evm-settings.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { parseQuantity } from "./rpc-results.ts";
import { createDepositWatch } from "./create-deposit-watch.ts";

/** Creates the readers of an EVM chain. Links are paid through the fee proxies. */
export const createEvmReaders: CreateReaders = (catalogue, chain, override) => {
  const evmChain = toEvmChain(catalogue, chain);
  const settings = evmSettings(chain.id, override);
  const deposits = createDepositWatch(evmChain, settings, (address) =>
    isAddress(address, { strict: false }) ? address : undefined,
  );
  return (context) => {
    const watchedLogs = {
      proxies: listProxyEvents(evmChain),
      contracts: listContracts(evmChain),
      hasLogsBloom: true,
      deposits: deposits.createWatchedDeposits(context.owners),
    };
    const options = { ...context, ...settings, chainId: chain.id, dialect: evmDialect(evmChain) };
    const readers = createChainReaders(options, (readerContext) =>
      createEvmReader(readerContext, evmChain, watchedLogs),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums: deposits.depositMinimums },
      findFault: (providerId) => findChainFault(evmChain, readers.getProviderReader(providerId)),
    };
  };
};

/** Returns the dialect of JSON-RPC that EVM nodes use. */
export const evmDialect = ({ chainName }: Pick<EvmChain, "chainName">): Dialect => ({
  chainRequest: {
    method: "eth_chainId",
    params: [],
    parseResult: (result) => String(parseQuantity(result)),
  },
  chainName,
  classifyError,
});
