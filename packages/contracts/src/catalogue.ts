import { readFileSync } from "node:fs";
import * as z from "zod";
import { getFamily } from "@payment-links/chains";
import { type CatalogueChain, CatalogueData } from "./catalogue-data.ts";
import { createApiError } from "./api-error.ts";
import { seed } from "./catalogue-seed.ts";
import type { Mode } from "./mode.ts";
import type { TokenData } from "./payment-link.ts";

/** A token with its chain. */
export type CatalogueToken = CatalogueData["tokens"][number] & { chain: CatalogueChain };

/** The chains and tokens in which links can be settled. All services use the same data. */
export type Catalogue = {
  readonly chains: readonly CatalogueChain[];
  /** The tokens that links accept. */
  readonly tokens: readonly CatalogueToken[];
  /** Tokens that payers mistake for an accepted one (rule CHAIN-27). Links never accept them. */
  readonly lookalikes: readonly CatalogueToken[];
  /** Finds a token that links accept. */
  findToken(tokenId: string): CatalogueToken | undefined;
  /** Finds any token of the catalogue, including look-alikes. */
  findTokenByAddress(chainId: string, address: string): CatalogueToken | undefined;
};

/**
 * Loads the catalogue: the built-in data, or the JSON file that replaces it, and the given
 * development chains. Throws if the file cannot be read or its data is invalid. The message names
 * the file.
 */
export const loadCatalogue = (
  file?: string,
  localChains: readonly CatalogueData[] = [],
): Catalogue => {
  const createWithLocalChains = (data: CatalogueData) =>
    createCatalogue(localChains.reduce(addLocalChains, data));
  if (file === undefined) return createWithLocalChains(seed);
  try {
    return createWithLocalChains(CatalogueData.parse(JSON.parse(readFileSync(file, "utf8"))));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`the catalogue ${file} cannot be used: ${reason}`, { cause: error });
  }
};

/** Adds the development chains, unless the file already defines one of them. */
const addLocalChains = (data: CatalogueData, localData: CatalogueData): CatalogueData =>
  localData.chains.some(({ id }) => data.chains.some((chain) => chain.id === id))
    ? data
    : {
        chains: [...data.chains, ...localData.chains],
        tokens: [...data.tokens, ...localData.tokens],
      };

/**
 * Builds a catalogue from data. Throws on:
 * - a duplicate chain, token or address
 * - a token on an unknown chain
 * - a chain whose id or CAIP-2 id does not fit its family
 * - an address that is not in the canonical form of its family
 * - fee proxies on a family that has none
 * - suffix support on a family without calldata
 * - a look-alike on a family without look-alikes, or one that does not name an accepted token of
 *   its own chain
 */
export const createCatalogue = (data: CatalogueData): Catalogue => {
  const chains = new Map<string, CatalogueChain>();
  for (const chain of data.chains) {
    if (chains.has(chain.id)) throw new Error(`catalogue: duplicate chain ${chain.id}`);
    const fault = getFamily(chain.chainType).findEntryFault(chain);
    if (fault !== undefined) throw new Error(`catalogue: ${fault}`);
    checkFeeProxies(chain);
    chains.set(chain.id, chain);
  }
  const tokensById = new Map<string, CatalogueToken>();
  const tokensByAddress = new Map<string, CatalogueToken>();
  for (const token of data.tokens) {
    const chain = chains.get(token.chainId);
    if (chain === undefined) throw new Error(`catalogue: ${token.id} is on an unknown chain`);
    checkToken(token, chain);
    const key = addressKey(chain, token.address);
    if (tokensById.has(token.id) || tokensByAddress.has(key))
      throw new Error(`catalogue: duplicate token or address: ${token.id}`);
    const entry = { ...token, chain };
    tokensById.set(token.id, entry);
    tokensByAddress.set(key, entry);
  }
  const allTokens = [...tokensById.values()];
  for (const token of allTokens) checkLookalike(token, tokensById);
  const acceptedTokens = new Map(
    allTokens
      .filter(({ lookalikeOf }) => lookalikeOf === undefined)
      .map((token) => [token.id, token]),
  );
  return {
    chains: data.chains,
    tokens: [...acceptedTokens.values()],
    lookalikes: allTokens.filter(({ lookalikeOf }) => lookalikeOf !== undefined),
    findToken: (tokenId) => acceptedTokens.get(tokenId),
    findTokenByAddress: (chainId, address) => {
      const chain = chains.get(chainId);
      return chain === undefined ? undefined : tokensByAddress.get(addressKey(chain, address));
    },
  };
};

const checkLookalike = (
  { chain, id, isNative, lookalikeOf, takesSuffix }: CatalogueToken,
  tokens: ReadonlyMap<string, CatalogueToken>,
): void => {
  if (lookalikeOf === undefined) return;
  const originalToken = tokens.get(lookalikeOf);
  const isValid =
    getFamily(chain.chainType).hasLookalikes &&
    originalToken?.chainId === chain.id &&
    originalToken.lookalikeOf === undefined &&
    !isNative &&
    takesSuffix === undefined;
  if (!isValid)
    throw new Error(`catalogue: ${id} is not a valid look-alike of a token on its chain`);
};

const checkFeeProxies = (chain: CatalogueChain): void => {
  if (chain.feeProxies === undefined) return;
  const { erc20, ethereum } = chain.feeProxies;
  const { feeProxies } = getFamily(chain.chainType);
  const isValid =
    feeProxies !== "none" &&
    isCanonical(chain, erc20) &&
    (ethereum === null || (feeProxies === "tokens and coin" && isCanonical(chain, ethereum)));
  if (!isValid) {
    throw new Error(`catalogue: the fee proxies of chain ${chain.id} are not valid on that chain`);
  }
};

const checkToken = (token: CatalogueData["tokens"][number], chain: CatalogueChain): void => {
  const family = getFamily(chain.chainType);
  const isAddressedBySymbol = family.isCoinNamedBySymbol && token.isNative;
  const isValid = isAddressedBySymbol
    ? token.address === chain.symbol
    : family.hasTokens && isCanonical(chain, token.address);
  if (!isValid) throw new Error(`catalogue: address of ${token.id} is not ${family.addressForm}`);
  if (token.takesSuffix !== undefined && (token.isNative || !family.hasTransferSuffix)) {
    throw new Error(`catalogue: ${token.id} has no calldata for a suffix: remove takesSuffix`);
  }
  if (token.tokenProgram !== undefined && (isAddressedBySymbol || !family.hasTokenPrograms)) {
    throw new Error(`catalogue: ${token.id} is not a Solana token: remove tokenProgram`);
  }
};

const isCanonical = (chain: CatalogueChain, address: string): boolean => {
  const result = getFamily(chain.chainType).parseAddress(chain.id, address);
  return "address" in result && result.address === address;
};

const addressKey = (chain: CatalogueChain, address: string): string =>
  `${chain.id}/${getFamily(chain.chainType).foldAddress(address)}`;

/** Returns the mode of a new wallet on a chain. */
export const getChainMode = ({ isTestNetwork }: Pick<CatalogueChain, "isTestNetwork">): Mode =>
  isTestNetwork === true ? "test" : "live";

/** Returns whether the catalogue has a token on a test network, which test mode needs. */
export const isTestModeAvailable = ({ tokens }: Pick<Catalogue, "tokens">): boolean =>
  tokens.some(({ chain }) => getChainMode(chain) === "test");

/** Throws TEST_MODE_UNAVAILABLE if the mode is test mode and the catalogue does not offer it. */
export const requireModeAvailable = (catalogue: Pick<Catalogue, "tokens">, mode: Mode): void => {
  if (mode === "test" && !isTestModeAvailable(catalogue))
    throw createApiError("TEST_MODE_UNAVAILABLE");
};

/** Serializes a catalogue token for API responses (rules API-7 and API-8). */
export const serializeToken = (token: CatalogueToken, checkoutUrl: string): TokenData => ({
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
