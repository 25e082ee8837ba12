/**
 * A wallet app, and the link that opens a URL in the app's browser, as documented by its vendor.
 *
 * Only wallets whose vendors document such a link are included. Rainbow is not included: its
 * documentation (read 2026-11-23) contains only WalletConnect pairing links, although other sources
 * mention links to its browser.
 */
export type WalletApp = {
  name: string;
  /** The page that documents the link format, and the date on which it was read. */
  source: string;
  readOn: string;
  /** The supported chains. If omitted, the app supports every chain of the family. */
  chainIds?: readonly string[];
  buildLink: (pageUrl: string) => string;
};

/** Phantom, which supports chains of several families. */
export const phantom: Omit<WalletApp, "chainIds"> = {
  name: "Phantom",
  source: "https://docs.phantom.com/phantom-deeplinks/other-methods/browse",
  readOn: "2026-11-22",
  buildLink: (pageUrl) => {
    const origin = encodeURIComponent(new URL(pageUrl).origin);
    return `https://phantom.app/ul/browse/${encodeURIComponent(pageUrl)}?ref=${origin}`;
  },
};
