import {
  type Catalogue,
  type CatalogueChain,
  type CatalogueToken,
  solanaTokenPrograms,
} from "@payment-links/contracts";
import { chainConfigError } from "../chain-config-error.ts";

/** A chain of Solana: what counts on it. */
export type SolanaChain = {
  id: string;
  /** How CAIP-2 names it: the beginning of its genesis hash. */
  chainName: string;
  /** The catalogue's tokens of the chain, by their mint. Its own coin is not among them. */
  tokens: ReadonlyMap<string, CatalogueToken>;
};

const caip2Prefix = "solana:";

/** Reads a chain of the catalogue; throws ConfigError where nobody can be paid on it. */
export const toSolanaChain = (
  { tokens: catalogueTokens }: Pick<Catalogue, "tokens">,
  { caip2, id }: Pick<CatalogueChain, "id" | "caip2">,
): SolanaChain => {
  if (!caip2.startsWith(caip2Prefix)) throw chainConfigError(`chain ${id} is no chain of Solana`);
  // A transfer of the chain's own coin leaves no word of a token program: links ask for none.
  const tokens = catalogueTokens.filter((token) => token.chainId === id && !token.isNative);
  if (tokens.length === 0) throw chainConfigError(`the catalogue has no tokens on chain ${id}`);
  return {
    id,
    chainName: caip2.slice(caip2Prefix.length),
    tokens: new Map(tokens.map((token) => [token.address, token])),
  };
};

/** The program that keeps a token's accounts. */
export const getTokenProgram = ({ tokenProgram = "token" }: Pick<CatalogueToken, "tokenProgram">) =>
  solanaTokenPrograms[tokenProgram];
