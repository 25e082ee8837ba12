import {
  type BitcoinChainId,
  type Catalogue,
  type CatalogueChain,
  type CatalogueToken,
  isBitcoinChainId,
} from "@payment-links/contracts";
import { chainConfigError } from "../chain-config-error.ts";

/** A chain of Bitcoin: what counts on it. */
export type BitcoinChain = {
  id: BitcoinChainId;
  /** How CAIP-2 names it (BIP 122): the beginning of its genesis hash. */
  chainName: string;
  /** Its coin. */
  token: Pick<CatalogueToken, "address" | "decimals">;
};

const caip2Prefix = "bip122:";
const coinDecimals = 8;

/** Reads a chain of the catalogue; throws ConfigError where nobody can be paid on it. */
export const toBitcoinChain = (
  { tokens }: Pick<Catalogue, "tokens">,
  { caip2, id }: Pick<CatalogueChain, "id" | "caip2">,
): BitcoinChain => {
  if (!isBitcoinChainId(id) || !caip2.startsWith(caip2Prefix)) {
    throw chainConfigError(`chain ${id} is no network of Bitcoin whose addresses are known here`);
  }
  const token = tokens.find((candidate) => candidate.chainId === id && candidate.isNative);
  if (token?.decimals !== coinDecimals) {
    throw chainConfigError(`the catalogue has no coin of ${coinDecimals} decimals on chain ${id}`);
  }
  return { id, chainName: caip2.slice(caip2Prefix.length), token };
};
