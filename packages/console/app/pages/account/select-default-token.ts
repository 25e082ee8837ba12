import type { CatalogueEntry } from "../../api/operations.ts";

type ChainIds = ReadonlySet<string>;

/** Returns the token preselected in the form: a stablecoin on a supported chain, or undefined. */
export const selectDefaultToken = (
  tokens: readonly CatalogueEntry[],
  chainIds: ChainIds,
): CatalogueEntry | undefined => {
  const payableTokens = tokens.filter(({ token }) => chainIds.has(token.chain.id));
  return payableTokens.find(({ token }) => token.isStablecoin === true) ?? payableTokens[0];
};

/**
 * Returns whether the input is clearly not an address on the token's chain. The service makes the
 * final check.
 */
export const isInvalidAddress = (input: string, entry: CatalogueEntry | undefined): boolean =>
  input !== "" && entry?.walletForm === "hex_address" && !/^0x[0-9a-fA-F]{40}$/.test(input.trim());

/**
 * Returns whether the input could be an account's extended public key or a descriptor that contains
 * one.
 */
export const mayBeExtendedPublicKey = (input: string): boolean =>
  /[a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]{100,115}/.test(input);
