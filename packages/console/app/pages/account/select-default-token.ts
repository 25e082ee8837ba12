import type { CatalogueEntry } from "../../api/operations.ts";

type ChainIds = ReadonlySet<string>;

/** The token that a form begins with: a stablecoin of a chain that is paid here, or none at all. */
export const selectDefaultToken = (
  tokens: readonly CatalogueEntry[],
  chainIds: ChainIds,
): CatalogueEntry | undefined => {
  const payableTokens = tokens.filter(({ token }) => chainIds.has(token.chain.id));
  return payableTokens.find(({ token }) => token.isStablecoin === true) ?? payableTokens[0];
};

/** Whether what was typed can be no address of the token's chain; the service has the last word. */
export const isInvalidAddress = (input: string, entry: CatalogueEntry | undefined): boolean =>
  input !== "" &&
  entry?.token.chain.chainType === "EVM" &&
  !/^0x[0-9a-fA-F]{40}$/.test(input.trim());

/** Whether what was typed may be an account's extended public key, or a descriptor of one. */
export const mayBeExtendedPublicKey = (input: string): boolean =>
  /[a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]{100,115}/.test(input);
