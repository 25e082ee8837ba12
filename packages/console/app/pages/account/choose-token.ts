import type { CatalogueEntry } from "../../api/operations.ts";

type Chains = ReadonlySet<string>;

/** The token that a form begins with: a stablecoin of a chain that is paid here, or none at all. */
export const preselect = (
  tokens: readonly CatalogueEntry[],
  chains: Chains,
): CatalogueEntry | undefined => {
  const payable = tokens.filter(({ token }) => chains.has(token.chain.id));
  return payable.find(({ token }) => token.isStablecoin === true) ?? payable[0];
};

/** Whether what was typed can be no address of the token's chain; the service has the last word. */
export const isWrongAddress = (typed: string, entry: CatalogueEntry | undefined): boolean =>
  typed !== "" &&
  entry?.token.chain.chainType === "EVM" &&
  !/^0x[0-9a-fA-F]{40}$/.test(typed.trim());

/** Whether what was typed may be an account's extended public key, or a descriptor of one. */
export const mayBeKey = (typed: string): boolean =>
  /[a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]{100,115}/.test(typed);
