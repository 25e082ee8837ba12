import type { Hex } from "viem";
import {
  type Catalogue,
  type CatalogueChain,
  tronFromHex,
  tronToHex,
} from "@payment-links/contracts";
import { configFault } from "../config-fault.ts";
import type { EvmChain } from "../evm/evm-chain.ts";

/**
 * Reads a chain of the catalogue: an EVM chain whose addresses are written in base58check, and whose
 * coin cannot be paid. Throws ConfigError where nobody can be paid on it.
 */
export const tronChainOf = (
  { lookalikes, tokens }: Pick<Catalogue, "lookalikes" | "tokens">,
  { id, caip2, feeProxies }: Pick<CatalogueChain, "id" | "caip2" | "feeProxies">,
): EvmChain => {
  if (feeProxies === undefined) {
    throw configFault(`the catalogue has no fee proxies on chain ${id}`);
  }
  const [, number] = /^tron:(0x[0-9a-f]{1,8})$/.exec(caip2) ?? [];
  if (number === undefined) throw configFault(`${caip2} of chain ${id} is no name of a Tron`);
  const contracts = [...tokens, ...lookalikes].filter(
    ({ chainId, isNative }) => chainId === id && !isNative,
  );
  return {
    id,
    chainName: String(Number(number)),
    proxies: { erc20: hexOf(feeProxies.erc20), ethereum: null },
    tokens: new Map(contracts.map((token) => [hexOf(token.address), token])),
    nativeToken: undefined,
    showAddress: tronFromHex,
  };
};

const hexOf = (address: string): Hex => tronToHex(address) as Hex;
