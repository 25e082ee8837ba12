import { type BitcoinChainId, isBitcoinChainId } from "../address.ts";
import type { Catalogue, CatalogueChain, CatalogueToken } from "@payment-links/contracts";
import { chainConfigError } from "../../reads/chain-config-error.ts";

/** A Bitcoin network and its coin. */
export type BitcoinChain = {
  id: BitcoinChainId;
  /** The CAIP-2 reference (BIP 122): the first characters of the genesis hash. */
  chainName: string;
  token: Pick<CatalogueToken, "address" | "decimals">;
};

const caip2Prefix = "bip122:";
const coinDecimals = 8;

/** Converts a catalogue chain. Throws `ConfigError` if it cannot receive payments. */
export const toBitcoinChain = (
  { tokens }: Pick<Catalogue, "tokens">,
  { caip2, id }: Pick<CatalogueChain, "id" | "caip2">,
): BitcoinChain => {
  if (!isBitcoinChainId(id) || !caip2.startsWith(caip2Prefix)) {
    throw chainConfigError(`chain ${id} is not a supported Bitcoin network`);
  }
  const token = tokens.find((candidate) => candidate.chainId === id && candidate.isNative);
  if (token?.decimals !== coinDecimals) {
    throw chainConfigError(
      `the catalogue has no coin with ${coinDecimals} decimals on chain ${id}`,
    );
  }
  return { id, chainName: caip2.slice(caip2Prefix.length), token };
};
