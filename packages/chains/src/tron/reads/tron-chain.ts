import type { Hex } from "viem";
import { tronAddressFromHex, tronAddressToHex } from "../address.ts";
import type { Catalogue, CatalogueChain } from "@payment-links/contracts";
import { chainConfigError } from "../../reads/chain-config-error.ts";
import type { EvmChain } from "../../evm/reads/evm-chain.ts";

/**
 * Converts a catalogue chain to an EVM chain with base58check addresses and without a native coin.
 * Throws `ConfigError` if the chain cannot receive payments.
 */
export const toTronChain = (
  { lookalikes, tokens }: Pick<Catalogue, "lookalikes" | "tokens">,
  { id, caip2, feeProxies }: Pick<CatalogueChain, "id" | "caip2" | "feeProxies">,
): EvmChain => {
  if (feeProxies === undefined) {
    throw chainConfigError(`the catalogue has no fee proxies on chain ${id}`);
  }
  const [, chainIdHex] = /^tron:(0x[0-9a-f]{1,8})$/.exec(caip2) ?? [];
  if (chainIdHex === undefined)
    throw chainConfigError(`${caip2} of chain ${id} is not the CAIP-2 id of a Tron chain`);
  const contractTokens = [...tokens, ...lookalikes].filter(
    ({ chainId, isNative }) => chainId === id && !isNative,
  );
  return {
    id,
    chainName: String(Number(chainIdHex)),
    proxies: { erc20: toHex(feeProxies.erc20), ethereum: null },
    tokens: new Map(contractTokens.map((token) => [toHex(token.address), token])),
    nativeToken: undefined,
    formatAddress: tronAddressFromHex,
  };
};

const toHex = (address: string): Hex => tronAddressToHex(address) as Hex;
