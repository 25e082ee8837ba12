import { type WalletApp, phantom } from "../wallet-app.ts";

/** The wallet apps that can open a page on a phone and pay on EVM chains. */
export const evmWalletApps: readonly WalletApp[] = [
  {
    name: "MetaMask",
    source:
      "https://docs.metamask.io/metamask-connect/evm/guides/metamask-exclusive/use-deeplinks/",
    readOn: "2026-11-22",
    // The URL is not encoded, because the app would then open an empty page. The scheme is always
    // https.
    buildLink: (pageUrl) => `https://link.metamask.io/dapp/${pageUrl.replace(/^https?:\/\//, "")}`,
  },
  {
    name: "Coinbase Wallet",
    source:
      "https://docs.cdp.coinbase.com/coinbase-wallet/developer-guidance/mobile-dapp-integration",
    readOn: "2026-11-22",
    buildLink: (pageUrl) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(pageUrl)}`,
  },
  {
    name: "Trust Wallet",
    source: "https://developer.trustwallet.com/developer/develop-for-trust/deeplinking",
    readOn: "2026-11-22",
    // 60 is the coin type of Ethereum (SLIP-44), which the app uses for all EVM chains.
    buildLink: (pageUrl) =>
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(pageUrl)}`,
  },
  {
    name: "OKX Wallet",
    source: "https://web3.okx.com/build/docs/waas/app-universal-link",
    readOn: "2026-11-22",
    buildLink: (pageUrl) => {
      const deepLink = `okx://wallet/dapp/url?dappUrl=${encodeURIComponent(pageUrl)}`;
      return `https://web3.okx.com/download?deeplink=${encodeURIComponent(deepLink)}`;
    },
  },
  { ...phantom, chainIds: ["1", "137", "8453"] },
];
