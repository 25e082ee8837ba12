import { readFileSync } from "node:fs";
import * as z from "zod";
import type { ChainType } from "./account.ts";
import { type CatalogueChain, CatalogueData } from "./catalogue-data.ts";
import { seed } from "./catalogue-seed.ts";
import { isBitcoinChainId } from "./bitcoin-address.ts";
import { readAddress } from "./chain-address.ts";
import type { TokenData } from "./payment-link.ts";

const evmChainId = /^[1-9]\d*$/;

/** A token with its chain. */
export type CatalogueToken = CatalogueData["tokens"][number] & { chain: CatalogueChain };

/** The chains and tokens that links can settle in: data, the same for all services. */
export type Catalogue = {
  readonly chains: readonly CatalogueChain[];
  /** Those that links take. */
  readonly tokens: readonly CatalogueToken[];
  /** Those that are mistaken for one of them (rule CHAIN-27): links never take these. */
  readonly lookalikes: readonly CatalogueToken[];
  /** Finds a token that links take. */
  findToken(tokenId: string): CatalogueToken | undefined;
  /** Finds any token of the catalogue, look-alikes included. */
  findTokenByAddress(chainId: string, address: string): CatalogueToken | undefined;
};

/**
 * Opens the catalogue: the seed, or the JSON file that replaces it, and beside it the given
 * development chains. Throws where the file cannot be read or its data is wrong; the message names
 * the file.
 */
export const openCatalogue = (
  file?: string,
  localChains: readonly CatalogueData[] = [],
): Catalogue => {
  const open = (data: CatalogueData) => createCatalogue(localChains.reduce(addBeside, data));
  if (file === undefined) return open(seed);
  try {
    return open(CatalogueData.parse(JSON.parse(readFileSync(file, "utf8"))));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`the catalogue ${file} cannot be used: ${reason}`, { cause: error });
  }
};

/** A file that already has a development chain decides what is on it. */
const addBeside = (data: CatalogueData, local: CatalogueData): CatalogueData =>
  local.chains.some(({ id }) => data.chains.some((chain) => chain.id === id))
    ? data
    : { chains: [...data.chains, ...local.chains], tokens: [...data.tokens, ...local.tokens] };

/**
 * Builds a catalogue from data. Throws on: a doubled chain, token or address; a token on an unknown
 * chain; an EVM chain whose id is not its decimal chain id; a network of Bitcoin that is not known; an
 * address that is not in the one form of its family; fee proxies where a family has none; a suffix where
 * there is no calldata; a look-alike of no token that links take on its chain, or on Solana.
 */
export const createCatalogue = (data: CatalogueData): Catalogue => {
  const chains = new Map<string, CatalogueChain>();
  for (const chain of data.chains) {
    if (chains.has(chain.id)) throw new Error(`catalogue: chain ${chain.id} twice`);
    const isMisnamed = !evmChainId.test(chain.id) || chain.caip2 !== `eip155:${chain.id}`;
    if (chain.chainType === "EVM" && isMisnamed) {
      throw new Error(`catalogue: chain ${chain.id} is not named by its decimal EVM chain id`);
    }
    if (chain.chainType === "BVM" && !isBitcoinChainId(chain.id)) {
      throw new Error(`catalogue: chain ${chain.id} is no network of Bitcoin that is known`);
    }
    checkFeeProxies(chain);
    chains.set(chain.id, chain);
  }
  const byId = new Map<string, CatalogueToken>();
  const byAddress = new Map<string, CatalogueToken>();
  for (const token of data.tokens) {
    const chain = chains.get(token.chainId);
    if (chain === undefined) throw new Error(`catalogue: ${token.id} is on an unknown chain`);
    checkToken(token, chain);
    const key = addressKey(chain, token.address);
    if (byId.has(token.id) || byAddress.has(key)) throw new Error(`catalogue: ${token.id} twice`);
    const entry = { ...token, chain };
    byId.set(token.id, entry);
    byAddress.set(key, entry);
  }
  const all = [...byId.values()];
  for (const token of all) checkLookalike(token, byId);
  const accepted = new Map(
    all.filter(({ lookalikeOf }) => lookalikeOf === undefined).map((token) => [token.id, token]),
  );
  return {
    chains: data.chains,
    tokens: [...accepted.values()],
    lookalikes: all.filter(({ lookalikeOf }) => lookalikeOf !== undefined),
    findToken: (tokenId) => accepted.get(tokenId),
    findTokenByAddress: (chainId, address) => {
      const chain = chains.get(chainId);
      return chain === undefined ? undefined : byAddress.get(addressKey(chain, address));
    },
  };
};

const checkLookalike = (
  { chain, id, isNative, lookalikeOf, takesSuffix }: CatalogueToken,
  tokens: ReadonlyMap<string, CatalogueToken>,
): void => {
  if (lookalikeOf === undefined) return;
  const original = tokens.get(lookalikeOf);
  const isRight =
    (chain.chainType === "EVM" || chain.chainType === "TVM") &&
    original?.chainId === chain.id &&
    original.lookalikeOf === undefined &&
    !isNative &&
    takesSuffix === undefined;
  if (!isRight) throw new Error(`catalogue: ${id} is a look-alike of no token of its chain`);
};

const checkFeeProxies = (chain: CatalogueChain): void => {
  if (chain.feeProxies === undefined) return;
  const { erc20, ethereum } = chain.feeProxies;
  const isEvm = chain.chainType === "EVM";
  const isRight =
    (isEvm || chain.chainType === "TVM") &&
    isCanonical(chain, erc20) &&
    (ethereum === null || (isEvm && isCanonical(chain, ethereum)));
  if (!isRight) {
    throw new Error(`catalogue: the fee proxies of chain ${chain.id} are no addresses of it`);
  }
};

const checkToken = (token: CatalogueData["tokens"][number], chain: CatalogueChain): void => {
  const isSymbol = chain.chainType !== "EVM" && token.isNative;
  const isRight = isSymbol
    ? token.address === chain.symbol
    : chain.chainType !== "BVM" && isCanonical(chain, token.address);
  if (!isRight) throw new Error(`catalogue: ${token.id} has no ${addressForms[chain.chainType]}`);
  if (token.takesSuffix !== undefined && (token.isNative || chain.chainType !== "EVM")) {
    throw new Error(`catalogue: ${token.id} has no calldata that could take a suffix`);
  }
  if (token.tokenProgram !== undefined && (isSymbol || chain.chainType !== "SVM")) {
    throw new Error(`catalogue: ${token.id} is kept by no program of Solana`);
  }
};

const addressForms: Readonly<Record<ChainType, string>> = {
  EVM: "EIP-55 address",
  SVM: "address of Solana",
  TVM: "address of Tron",
  BVM: "place on Bitcoin: only the coin itself has one, its chain's symbol",
};

const isCanonical = (chain: CatalogueChain, address: string): boolean => {
  const reading = readAddress(chain, address);
  return "address" in reading && reading.address === address;
};

const addressKey = (chain: CatalogueChain, address: string): string =>
  `${chain.id}/${chain.chainType === "EVM" ? address.toLowerCase() : address}`;

/** Where a chain's explorer shows a transaction; undefined where it has none, or for no hash of a transaction. */
export const explorerUrl = (
  { chainType, explorer }: Pick<CatalogueChain, "chainType" | "explorer">,
  transaction: string,
): string | undefined => {
  if (explorer === undefined || !transactionForms[chainType].test(transaction)) return undefined;
  // Tron's nodes write 0x before a hash where they speak Ethereum's dialect, its explorers do not.
  const shown = chainType === "TVM" ? transaction.replace(/^0x/, "") : transaction;
  return explorer.url + (explorer.paths?.transactions ?? "/tx/{}").replace("{}", shown);
};

const transactionForms: Readonly<Record<ChainType, RegExp>> = {
  EVM: /^0x[0-9a-f]{64}$/i,
  SVM: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/,
  TVM: /^(?:0x)?[0-9a-f]{64}$/i,
  BVM: /^[0-9a-f]{64}$/,
};

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
