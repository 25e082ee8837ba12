import type { Hex } from "viem";
import type { Catalogue, CatalogueChain, CatalogueToken } from "@payment-links/contracts";
import { chainConfigError } from "../../reads/chain-config-error.ts";
import { erc20ProxyEvent, nativeProxyEvent } from "./decode-event.ts";
import type { PayableChain } from "./verify-receipt.ts";

/** An EVM chain: its payable tokens and its fee proxies. */
export type EvmChain = PayableChain & {
  id: string;
  /** The chain id that the nodes report, as a decimal. */
  chainName: string;
  proxies: { erc20: Hex; ethereum: Hex | null };
};

/** Converts a catalogue chain. Throws `ConfigError` if it cannot receive payments. */
export const toEvmChain = (
  { lookalikes, tokens: catalogueTokens }: Pick<Catalogue, "lookalikes" | "tokens">,
  { id, feeProxies }: Pick<CatalogueChain, "id" | "feeProxies">,
): EvmChain => {
  if (feeProxies === undefined)
    throw chainConfigError(`the catalogue has no fee proxies on chain ${id}`);
  const tokens = [...catalogueTokens, ...lookalikes].filter((token) => token.chainId === id);
  const contractTokens = tokens.filter((token) => !token.isNative);
  return {
    id,
    chainName: id,
    proxies: {
      erc20: toLowerHex(feeProxies.erc20),
      ethereum: feeProxies.ethereum === null ? null : toLowerHex(feeProxies.ethereum),
    },
    tokens: new Map(
      contractTokens.map((token): [string, CatalogueToken] => [toLowerHex(token.address), token]),
    ),
    nativeToken: tokens.find((token) => token.isNative),
    formatAddress: (address) => address,
  };
};

/** Returns the filter for the events of a chain's fee proxies. */
export const listProxyEvents = ({
  proxies,
  nativeToken,
}: EvmChain): readonly { address: Hex; topic0: Hex }[] => [
  { address: proxies.erc20, topic0: erc20ProxyEvent.topic0 },
  ...(proxies.ethereum === null || nativeToken === undefined
    ? []
    : [{ address: proxies.ethereum, topic0: nativeProxyEvent.topic0 } as const]),
];

/**
 * Returns the contracts whose logs determine what a receipt proves: the fee proxies and the tokens.
 */
export const listContracts = ({ proxies, tokens }: PayableChain): ReadonlySet<Hex> => {
  const addresses = [proxies.erc20, proxies.ethereum ?? [], ...tokens.keys()].flat();
  return new Set(addresses.map(toLowerHex));
};

/** Nodes return addresses in lowercase. Addresses in the catalogue have an EIP-55 checksum. */
const toLowerHex = (address: string): Hex => address.toLowerCase() as Hex;
