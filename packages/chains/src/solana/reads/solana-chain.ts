import type { Catalogue, CatalogueChain, CatalogueToken } from "@payment-links/contracts";
import { chainConfigError } from "../../reads/chain-config-error.ts";

/** A Solana network and its payable tokens. */
export type SolanaChain = {
  id: string;
  /**
   * The reference of the CAIP-2 chain id, which consists of the first characters of the genesis
   * hash.
   */
  chainName: string;
  /** The network's catalogue tokens by mint. SOL is not included. */
  tokens: ReadonlyMap<string, CatalogueToken>;
};

const caip2Prefix = "solana:";

/** Converts a catalogue chain. Throws `ConfigError` if it cannot receive payments. */
export const toSolanaChain = (
  { tokens: catalogueTokens }: Pick<Catalogue, "tokens">,
  { caip2, id }: Pick<CatalogueChain, "id" | "caip2">,
): SolanaChain => {
  if (!caip2.startsWith(caip2Prefix)) throw chainConfigError(`chain ${id} is not a Solana chain`);
  // SOL is transferred without a token program, so links cannot request it.
  const tokens = catalogueTokens.filter((token) => token.chainId === id && !token.isNative);
  if (tokens.length === 0) throw chainConfigError(`the catalogue has no tokens on chain ${id}`);
  return {
    id,
    chainName: caip2.slice(caip2Prefix.length),
    tokens: new Map(tokens.map((token) => [token.address, token])),
  };
};
