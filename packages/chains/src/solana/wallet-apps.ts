import { type WalletApp, phantom } from "../wallet-app.ts";

/** The wallet apps that can open a page on a phone and pay on Solana. */
export const solanaWalletApps: readonly WalletApp[] = [
  { ...phantom, chainIds: ["solana"] },
  {
    name: "Solflare",
    // The documentation mentions the link. Its format comes from wallet adapters for Solflare.
    source: "https://docs.solflare.com/solflare/technical/deeplinks/other-methods/browse",
    readOn: "2026-11-23",
    chainIds: ["solana"],
    buildLink: (pageUrl) => {
      const origin = encodeURIComponent(new URL(pageUrl).origin);
      return `https://solflare.com/ul/v1/browse/${encodeURIComponent(pageUrl)}?ref=${origin}`;
    },
  },
];
