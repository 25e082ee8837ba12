import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import { proxyEventsOf } from "../evm/evm-chain.ts";
import { createEvmReader } from "../evm/evm-reader.ts";
import { findChainFault } from "../evm/find-chain-fault.ts";
import type { Family } from "../family.ts";
import { createTronReads } from "./create-tron-reads.ts";
import { tronChainOf } from "./tron-chain.ts";
import { tronDialect } from "./tron-dialect.ts";
import { tronSettings } from "./tron-settings.ts";

/** Tron and its test networks: paid through the fee proxy, read as EVM in java-tron's dialect. */
export const tronFamily: Family = (catalogue, chain, override) => {
  const tronChain = tronChainOf(catalogue, chain);
  const settings = tronSettings(chain.id, override);
  return (ground) => {
    const options = { ...ground, ...settings, chainId: chain.id, dialect: tronDialect(tronChain) };
    const { reader, ...readers } = openChainReaders(options, (asking) =>
      createEvmReader(createTronReads(asking, proxyEventsOf(tronChain)), tronChain),
    );
    return {
      ...readers,
      id: chain.id,
      settings,
      reader,
      findFault: () => findChainFault(tronChain, reader),
    };
  };
};
