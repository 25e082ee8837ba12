import type { Hex } from "viem";
import type { Catalogue, CatalogueToken } from "@payment-links/contracts";
import { ConfigError } from "@payment-links/runtime";
import { erc20ProxyEvent, nativeProxyEvent } from "../../domain/decode-event.ts";
import type { PayableChain } from "../../domain/verify-receipt.ts";
import type { ChainSettings } from "./chain-settings.ts";

/** A chain that is watched: what counts on it, and how it is read. */
export type WatchedChain = PayableChain & {
  id: string;
  settings: ChainSettings;
  proxies: { erc20: Hex; ethereum: Hex | null };
};

/** Opens a chain of the catalogue; throws ConfigError where nobody can be paid on it. */
export const openWatchedChain = (
  catalogue: Catalogue,
  id: string,
  settings: ChainSettings,
): WatchedChain => {
  const proxies = catalogue.chains.find((chain) => chain.id === id)?.feeProxies;
  if (proxies === undefined) {
    throw new ConfigError(
      `The configuration cannot be used:\n  EVM_RPC_URLS: the catalogue has no fee proxies on chain ${id}`,
    );
  }
  const tokens = catalogue.tokens.filter((token) => token.chainId === id);
  const contracts = tokens.filter((token) => !token.isNative);
  return {
    id,
    settings,
    proxies: {
      erc20: lower(proxies.erc20),
      ethereum: proxies.ethereum === null ? null : lower(proxies.ethereum),
    },
    tokens: new Map(
      contracts.map((token): [string, CatalogueToken] => [lower(token.address), token]),
    ),
    nativeToken: tokens.find((token) => token.isNative),
  };
};

/** What the fee proxies of a chain emit: the one filter by which it is read. */
export const proxyEventsOf = ({
  proxies,
  nativeToken,
}: WatchedChain): readonly { address: Hex; topic0: Hex }[] => [
  { address: proxies.erc20, topic0: erc20ProxyEvent.topic0 },
  ...(proxies.ethereum === null || nativeToken === undefined
    ? []
    : [{ address: proxies.ethereum, topic0: nativeProxyEvent.topic0 } as const]),
];

/** Nodes answer in lowercase, the catalogue in EIP-55 form, which it has checked. */
const lower = (address: string): Hex => address.toLowerCase() as Hex;
