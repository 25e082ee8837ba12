import type { Hex } from "viem";
import { type CatalogueToken, Decimal, smallestDeposit } from "@payment-links/contracts";
import { depositMinimumsOf } from "../../domain/deposit.ts";
import type { Dialect } from "../../rpc/dialect.ts";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import { configFault } from "../config-fault.ts";
import { noOwners } from "../../watch/chain/owners.ts";
import type { Family } from "../family.ts";
import { classifyError } from "./classify-error.ts";
import { createEvmReads } from "./create-evm-reads.ts";
import { type EvmChain, evmChainOf, proxyEventsOf } from "./evm-chain.ts";
import { createEvmReader } from "./evm-reader.ts";
import { evmSettings } from "./evm-settings.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { openPayees } from "./reads/payees.ts";
import { readQuantity } from "./node-answers.ts";

/** Chains of EVM nodes, paid through the fee proxies. */
export const evmFamily: Family = (catalogue, chain, override) => {
  const evmChain = evmChainOf(catalogue, chain);
  const settings = evmSettings(chain.id, override);
  const tokens = [...evmChain.tokens.values()];
  const { depositMinimums: set = {} } = override;
  const unknown = Object.keys(set).find(
    (address) => !tokens.some((one) => one.address === address),
  );
  if (unknown !== undefined) {
    throw configFault(`CHAINS_FILE sets a minimum of ${unknown}, no token of chain ${chain.id}`);
  }
  const depositMinimums = depositMinimumsOf(tokens, set);
  return (ground) => {
    const payees = openPayees(
      settings.findsDeposits === true ? ground.owners : noOwners,
      (address) => address as Hex,
    );
    const deposits = { tokens: tokens.map((token) => leastOf(token, depositMinimums)), payees };
    const watched = { proxies: proxyEventsOf(evmChain), isBloomKept: true, deposits };
    const options = { ...ground, ...settings, chainId: chain.id, dialect: evmDialect(evmChain) };
    const { reader, ...readers } = openChainReaders(options, (asking) =>
      createEvmReader(createEvmReads(asking, watched), evmChain, payees),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums },
      reader,
      findFault: () => findChainFault(evmChain, reader),
    };
  };
};

/**
 * The least base units, rounded up, of a token's transfers that are read: what makes a deposit or, as a
 * payment is no dust, what may name its link by a suffix.
 */
const leastOf = (
  token: CatalogueToken,
  minimums: Readonly<Record<string, Decimal>>,
): { address: Hex; minimum: bigint } => {
  const { address, decimals, takesSuffix } = token;
  const set = minimums[address] ?? smallestDeposit(token);
  const least = takesSuffix === undefined ? set : Decimal.min(set, smallestDeposit(token));
  const units = least.times(new Decimal(10).pow(decimals)).ceil();
  return { address: address as Hex, minimum: BigInt(units.toFixed()) };
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
