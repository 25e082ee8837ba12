import type { Hex } from "viem";
import type { Catalogue, CatalogueChain, CatalogueToken } from "@payment-links/contracts";
import { chainConfigError } from "../chain-config-error.ts";
import { erc20ProxyEvent, nativeProxyEvent } from "./decode-event.ts";
import type { PayableChain } from "./verify-receipt.ts";

/** A chain of EVM nodes: what counts on it. */
export type EvmChain = PayableChain & {
  id: string;
  /** The decimal chain id that its nodes tell. */
  chainName: string;
  proxies: { erc20: Hex; ethereum: Hex | null };
};

/** Reads a chain of the catalogue; throws ConfigError where nobody can be paid on it. */
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

/** What the fee proxies of a chain emit: the one filter by which it is read. */
export const listProxyEvents = ({
  proxies,
  nativeToken,
}: EvmChain): readonly { address: Hex; topic0: Hex }[] => [
  { address: proxies.erc20, topic0: erc20ProxyEvent.topic0 },
  ...(proxies.ethereum === null || nativeToken === undefined
    ? []
    : [{ address: proxies.ethereum, topic0: nativeProxyEvent.topic0 } as const]),
];

/** The contracts whose logs decide what a receipt proves: the fee proxies and the tokens. */
export const listContracts = ({ proxies, tokens }: PayableChain): ReadonlySet<Hex> => {
  const addresses = [proxies.erc20, proxies.ethereum ?? [], ...tokens.keys()].flat();
  return new Set(addresses.map(toLowerHex));
};

/** Nodes answer in lowercase, the catalogue in EIP-55 form, which it has checked. */
const toLowerHex = (address: string): Hex => address.toLowerCase() as Hex;
