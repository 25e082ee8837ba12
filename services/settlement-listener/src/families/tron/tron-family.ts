import type { Hex } from "viem";
import { readTronAddress, tronToHex } from "@payment-links/contracts";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import { contractsOf, proxyEventsOf } from "../evm/evm-chain.ts";
import { createEvmReader } from "../evm/evm-reader.ts";
import { findChainFault } from "../evm/find-chain-fault.ts";
import { watchDeposits } from "../evm/watched-deposits.ts";
import type { Family } from "../family.ts";
import { createTronReads } from "./create-tron-reads.ts";
import { tronChainOf } from "./tron-chain.ts";
import { tronDialect } from "./tron-dialect.ts";
import { tronSettings } from "./tron-settings.ts";

/** Tron and its test networks: paid through the fee proxy, read as EVM in java-tron's dialect. */
export const tronFamily: Family = (catalogue, chain, override) => {
  const tronChain = tronChainOf(catalogue, chain);
  const settings = tronSettings(chain.id, override);
  const deposits = watchDeposits(tronChain, settings, hexOf);
  return (ground) => {
    const watched = {
      proxies: proxyEventsOf(tronChain),
      contracts: contractsOf(tronChain),
      deposits: deposits.open(ground.owners),
    };
    const options = { ...ground, ...settings, chainId: chain.id, dialect: tronDialect(tronChain) };
    const { reader, ...readers } = openChainReaders(options, (asking) =>
      createEvmReader(createTronReads(asking, watched), tronChain, watched.deposits.payees),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums: deposits.depositMinimums },
      reader,
      findFault: (providerId) => findChainFault(tronChain, readers.readerOf(providerId)),
    };
  };
};

const hexOf = (address: string): Hex | undefined =>
  "fault" in readTronAddress(address) ? undefined : (tronToHex(address) as Hex);
