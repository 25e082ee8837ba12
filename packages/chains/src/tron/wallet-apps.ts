import type { WalletApp } from "../wallet-app.ts";

/** The wallet apps that can open a page on a phone and pay on Tron. */
export const tronWalletApps: readonly WalletApp[] = [
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
