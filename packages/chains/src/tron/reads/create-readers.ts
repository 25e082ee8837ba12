import type { Hex } from "viem";
import { parseTronAddress, tronAddressToHex } from "../address.ts";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import { listContracts, listProxyEvents } from "../../evm/reads/evm-chain.ts";
import { findChainFault } from "../../evm/reads/find-chain-fault.ts";
import { createDepositWatch } from "../../evm/reads/create-deposit-watch.ts";
import type { CreateReaders } from "../../reads/watched-chain.ts";
import { toTronChain } from "./tron-chain.ts";
import { tronDialect } from "./tron-dialect.ts";
import { createTronReader } from "./tron-reader.ts";
import { tronSettings } from "./tron-settings.ts";

/**
 * Creates the readers of a Tron chain. Links are paid through the fee proxy, and blocks are read like on EVM chains, in
 * java-tron's dialect of JSON-RPC.
 */
export const createTronReaders: CreateReaders = (catalogue, chain, override) => {
  const tronChain = toTronChain(catalogue, chain);
  const settings = tronSettings(chain.id, override);
  const deposits = createDepositWatch(tronChain, settings, toHexAddress);
  return (context) => {
    const watchedLogs = {
      proxies: listProxyEvents(tronChain),
      contracts: listContracts(tronChain),
      deposits: deposits.createWatchedDeposits(context.owners),
    };
    const options = { ...context, ...settings, chainId: chain.id, dialect: tronDialect(tronChain) };
    const readers = createChainReaders(options, (readerContext) =>
      createTronReader(readerContext, tronChain, watchedLogs),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums: deposits.depositMinimums },
      findFault: (providerId) => findChainFault(tronChain, readers.getProviderReader(providerId)),
    };
  };
};

const toHexAddress = (address: string): Hex | undefined =>
  "fault" in parseTronAddress(address) ? undefined : (tronAddressToHex(address) as Hex);
