import { isAddress } from "viem";
import type { Dialect } from "../../rpc/dialect.ts";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import type { Family } from "../family.ts";
import { classifyError } from "./classify-error.ts";
import { createEvmReads } from "./create-evm-reads.ts";
import { type EvmChain, contractsOf, evmChainOf, proxyEventsOf } from "./evm-chain.ts";
import { createEvmReader } from "./evm-reader.ts";
import { evmSettings } from "./evm-settings.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { readQuantity } from "./node-answers.ts";
import { watchDeposits } from "./watched-deposits.ts";

/** Chains of EVM nodes, paid through the fee proxies. */
export const evmFamily: Family = (catalogue, chain, override) => {
  const evmChain = evmChainOf(catalogue, chain);
  const settings = evmSettings(chain.id, override);
  const deposits = watchDeposits(evmChain, settings, (address) =>
    isAddress(address, { strict: false }) ? address : undefined,
  );
  return (ground) => {
    const watchedDeposits = deposits.open(ground.owners);
    const proxies = proxyEventsOf(evmChain);
    const contracts = contractsOf(evmChain);
    const watched = { proxies, contracts, isBloomKept: true, deposits: watchedDeposits };
    const options = { ...ground, ...settings, chainId: chain.id, dialect: evmDialect(evmChain) };
    const { reader, ...readers } = openChainReaders(options, (asking) =>
      createEvmReader(createEvmReads(asking, watched), evmChain, watchedDeposits.payees),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums: deposits.depositMinimums },
      reader,
      findFault: (providerId) => findChainFault(evmChain, readers.readerOf(providerId)),
    };
  };
};

/** How EVM nodes speak. */
export const evmDialect = ({ chainName }: Pick<EvmChain, "chainName">): Dialect => ({
  chainQuestion: {
    method: "eth_chainId",
    params: [],
    read: (result) => String(readQuantity(result)),
  },
  chainName,
  classifyError,
});
