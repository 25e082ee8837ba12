import { type Html, html } from "@payment-links/http";
import { type Asset, buildAssetUrl, findAsset } from "./assets.ts";

/** The network logo of each chain that has one. A test network has the logo of its main network. */
const chainLogos: Readonly<Record<string, string>> = {
  "1": "network-ethereum.svg",
  "10": "network-optimism.svg",
  "137": "network-polygon.svg",
  "8453": "network-base.svg",
  "42161": "network-arbitrum.svg",
  "43114": "network-avalanche.svg",
  "84532": "network-base.svg",
  "11155111": "network-ethereum.svg",
  tron: "network-tron.svg",
  "tron-nile": "network-tron.svg",
  solana: "network-solana.svg",
  "solana-devnet": "network-solana.svg",
  bitcoin: "network-bitcoin.svg",
  "bitcoin-testnet4": "network-bitcoin.svg",
};

/** Tokens by symbol. The operator chooses the catalogue, so a symbol identifies its token. */
const tokenLogos: Readonly<Record<string, string>> = {
  BTC: "token-btc.svg",
  EURC: "token-eurc.svg",
  PYUSD: "token-pyusd.svg",
  USDC: "token-usdc.svg",
  USDT: "token-usdt.svg",
};

/** Finds the logo of a chain's network. */
export const findChainLogo = (chainId: string): Asset | undefined =>
  findAsset(chainLogos[chainId] ?? "");

/** Renders the logo of a chain's network. Renders nothing if there is none. */
export const renderChainLogo = (chainId: string): Html | undefined =>
  renderLogo(chainLogos[chainId], 20);

/** Renders the logo of a token. Renders nothing if there is none. */
export const renderTokenLogo = (symbol: string): Html | undefined =>
  renderLogo(tokenLogos[symbol], 40);

/** The name of the network or token is next to the logo, so the logo has no alternative text. */
const renderLogo = (file: string | undefined, size: number): Html | undefined =>
  file === undefined
    ? undefined
    : html`<img
        class="logo"
        src="${buildAssetUrl(file)}"
        alt=""
        width="${size}"
        height="${size}"
      />`;
