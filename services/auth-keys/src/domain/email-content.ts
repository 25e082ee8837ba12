import {
  type Catalogue,
  type CatalogueToken,
  type Decimal,
  formatAmount,
} from "@payment-links/contracts";

type Money = { amount: Decimal; chainId: string; tokenAddress: string };

/** Describes an amount as emails show it. A token that is not in the catalog has only an address. */
export const describeMoney = (
  { chains, findTokenByAddress }: Pick<Catalogue, "chains" | "findTokenByAddress">,
  { amount, chainId, tokenAddress }: Money,
): { amount: string; token: string; chain: string } => {
  const token = findTokenByAddress(chainId, tokenAddress);
  const chain = chains.find(({ id }) => id === chainId);
  return {
    amount: formatAmount(amount),
    token: token?.symbol ?? tokenAddress,
    chain: chain?.name ?? chainId,
  };
};

/** Describes a token as emails show it. */
export const describeToken = ({ chain, symbol }: CatalogueToken) => ({
  token: symbol,
  chain: chain.name,
});
