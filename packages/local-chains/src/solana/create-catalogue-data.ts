import type { CatalogueData } from "@payment-links/contracts";
import type { Token } from "./create-tokens.ts";
import { tokenPrograms } from "./token-account.ts";

/** The length of the genesis hash prefix in a CAIP-2 chain id. */
const chainReferenceLength = 32;

/**
 * Creates the data of the local Solana chain and its tokens for the catalogue. The unlisted token
 * is not included.
 */
export const createCatalogueData = (
  tokens: ReadonlyMap<string, Token>,
  genesisHash: string,
): CatalogueData => ({
  chains: [
    {
      id: "local-solana",
      name: "Local Solana",
      symbol: "SOL",
      chainType: "SVM",
      caip2: `solana:${genesisHash.slice(0, chainReferenceLength)}`,
      isTestNetwork: true,
    },
  ],
  tokens: [...tokens.values()]
    .filter(({ name }) => name !== "other")
    .map(({ name, symbol, mint, decimals, program }) => ({
      id: `${name}-local-solana`,
      chainId: "local-solana",
      address: mint,
      decimals,
      symbol,
      name: symbol === "USDC" ? "Test USD Coin" : symbol,
      isNative: false,
      isStablecoin: true,
      currencyCode: "USD",
      commodityCode: null,
      tokenProgram: program === tokenPrograms.token ? "token" : "token-2022",
      source: "issued by the local chain itself",
      verifiedOn: "2026-11-23",
    })),
});
