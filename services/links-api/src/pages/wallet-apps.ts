/**
 * A wallet app, and the link that opens a URL in the app's browser, as documented by its vendor.
 */
type WalletApp = {
  name: string;
  /** The page that documents the link format, and the date on which it was read. */
  source: string;
  readOn: string;
  /** The supported chains. If omitted, the app supports every EVM chain. */
  chainIds?: readonly string[];
  buildLink: (pageUrl: string) => string;
};

/**
 * The wallet apps that can open a page on a phone. Only wallets whose vendors document such a link
 * are included. Rainbow is not included: its documentation (read 2026-11-23) contains only
 * WalletConnect pairing links, although other sources mention links to its browser.
 */
const walletApps: readonly WalletApp[] = [
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
  {
    name: "Phantom",
    source: "https://docs.phantom.com/phantom-deeplinks/other-methods/browse",
    readOn: "2026-11-22",
    chainIds: ["1", "137", "8453", "solana"],
    buildLink: (pageUrl) => {
      const origin = encodeURIComponent(new URL(pageUrl).origin);
      return `https://phantom.app/ul/browse/${encodeURIComponent(pageUrl)}?ref=${origin}`;
    },
  },
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
  {
    name: "TronLink",
    source: "https://docs.tronlink.org/mobile/deeplink/",
    readOn: "2026-11-23",
    chainIds: ["tron", "tron-nile"],
    // The documentation does not contain an https link. If the app is not installed, nothing opens.
    buildLink: (pageUrl) => {
      const parameters = { url: pageUrl, action: "open", protocol: "TronLink", version: "1.0" };
      return `tronlinkoutside://pull.activity?param=${encodeURIComponent(JSON.stringify(parameters))}`;
    },
  },
];

const evmChainIdPattern = /^\d+$/;

/** Lists the wallet apps that support a chain. */
export const listWalletApps = (chainId: string): readonly WalletApp[] =>
  walletApps.filter(
    ({ chainIds }) => chainIds?.includes(chainId) ?? evmChainIdPattern.test(chainId),
  );
