import { readFileSync } from "node:fs";
import * as z from "zod";
import type { ChainType } from "./account.ts";
import { type CatalogueChain, CatalogueData } from "./catalogue-data.ts";
import { devnetSeed, seed } from "./catalogue-seed.ts";
import { devnet } from "./devnet.ts";
import { isEvmAddress, toEip55 } from "./evm-address.ts";
import type { TokenData } from "./payment-link.ts";

const evmChainId = /^[1-9]\d*$/;

/** A token with its chain. */
export type CatalogueToken = CatalogueData["tokens"][number] & { chain: CatalogueChain };

/** The chains and tokens that links can settle in: data, the same for all services. */
export type Catalogue = {
  readonly chains: readonly CatalogueChain[];
  readonly tokens: readonly CatalogueToken[];
  findToken(tokenId: string): CatalogueToken | undefined;
  findTokenByAddress(chainId: string, address: string): CatalogueToken | undefined;
};

/**
 * Opens the catalogue: the seed, or the JSON file that replaces it, and with the development chain
 * where that is asked for. Throws where the file cannot be read or its data is wrong; the message
 * names the file.
 */
export const openCatalogue = (
  file?: string,
  { withDevnet = false }: { withDevnet?: boolean } = {},
): Catalogue => {
  const open = (data: CatalogueData) => createCatalogue(withDevnet ? addDevnet(data) : data);
  if (file === undefined) return open(seed);
  try {
    return open(CatalogueData.parse(JSON.parse(readFileSync(file, "utf8"))));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`the catalogue ${file} cannot be used: ${reason}`, { cause: error });
  }
};

/** A file that already has the development chain decides what is on it. */
const addDevnet = (data: CatalogueData): CatalogueData =>
  data.chains.some(({ id }) => id === devnet.chainId)
    ? data
    : {
        chains: [...data.chains, ...devnetSeed.chains],
        tokens: [...data.tokens, ...devnetSeed.tokens],
      };

/**
 * Builds a catalogue from data. Throws on: a doubled chain, token or address; a token on an unknown
 * chain; an EVM chain whose id is not its decimal chain id; an EVM address not in EIP-55 form; fee
 * proxies on a chain that is not EVM.
 */
export const createCatalogue = (data: CatalogueData): Catalogue => {
  const chains = new Map<string, CatalogueChain>();
  for (const chain of data.chains) {
    if (chains.has(chain.id)) throw new Error(`catalogue: chain ${chain.id} twice`);
    const isMisnamed = !evmChainId.test(chain.id) || chain.caip2 !== `eip155:${chain.id}`;
    if (chain.chainType === "EVM" && isMisnamed) {
      throw new Error(`catalogue: chain ${chain.id} is not named by its decimal EVM chain id`);
    }
    checkFeeProxies(chain);
    chains.set(chain.id, chain);
  }
  const byId = new Map<string, CatalogueToken>();
  const byAddress = new Map<string, CatalogueToken>();
  for (const token of data.tokens) {
    const chain = chains.get(token.chainId);
    if (chain === undefined) throw new Error(`catalogue: ${token.id} is on an unknown chain`);
    if (chain.chainType === "EVM" && !isEip55(token.address)) {
      throw new Error(`catalogue: ${token.id} has no EIP-55 address`);
    }
    const key = addressKey(chain, token.address);
    if (byId.has(token.id) || byAddress.has(key)) throw new Error(`catalogue: ${token.id} twice`);
    const entry = { ...token, chain };
    byId.set(token.id, entry);
    byAddress.set(key, entry);
  }
  return {
    chains: data.chains,
    tokens: [...byId.values()],
    findToken: (tokenId) => byId.get(tokenId),
    findTokenByAddress: (chainId, address) => {
      const chain = chains.get(chainId);
      return chain === undefined ? undefined : byAddress.get(addressKey(chain, address));
    },
  };
};

const checkFeeProxies = ({ id, chainType, feeProxies }: CatalogueChain): void => {
  if (feeProxies === undefined) return;
  const { erc20, ethereum } = feeProxies;
  const isRight = chainType === "EVM" && isEip55(erc20) && (ethereum === null || isEip55(ethereum));
  if (!isRight)
    throw new Error(`catalogue: the fee proxies of chain ${id} are no EIP-55 addresses`);
};

const isEip55 = (address: string): boolean => isEvmAddress(address) && toEip55(address) === address;

const addressKey = (chain: CatalogueChain, address: string): string =>
  `${chain.id}/${chain.chainType === "EVM" ? address.toLowerCase() : address}`;

/** Whether two addresses of one chain family are the same: EVM addresses without regard to case. */
export const isSameAddress = (chainType: ChainType, a: string, b: string): boolean =>
  chainType === "EVM" ? a.toLowerCase() === b.toLowerCase() : a === b;

/** Shows a catalogue token as the wire wants it (rules API-7, API-8). */
export const showToken = (token: CatalogueToken, checkoutUrl: string): TokenData => ({
  address: token.address,
  decimals: token.decimals,
  symbol: token.symbol,
  name: token.name,
  logo: null,
  isNative: token.isNative,
  isStablecoin: token.isStablecoin,
  currencyCode: token.currencyCode,
  commodityCode: token.commodityCode,
  chain: {
    id: token.chain.id,
    name: token.chain.name,
    symbol: token.chain.symbol,
    chainType: token.chain.chainType,
    logo: `${checkoutUrl}/checkout/logos/${token.chain.id}.svg`,
  },
  priceUsd: null,
  isVerified: true,
});
