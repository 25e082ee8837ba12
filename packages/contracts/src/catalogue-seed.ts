import type { CatalogueData } from "./catalogue.ts";

const chain = (id: string, name: string, symbol: string) =>
  ({ id, name, symbol, chainType: "EVM", caip2: `eip155:${id}` }) as const;

const circle = "Circle, USDC and EURC contract addresses page";
const tether = "Tether, supported protocols page";
const verifiedOn = "2026-11-21";

const stable = (
  id: string,
  chainId: string,
  address: string,
  more: { symbol: string; name: string; decimals?: number; currencyCode?: string; source: string },
) => ({
  id,
  chainId,
  address,
  decimals: more.decimals ?? 6,
  symbol: more.symbol,
  name: more.name,
  isNative: false,
  isStablecoin: true,
  currencyCode: more.currencyCode ?? "USD",
  commodityCode: null,
  source: more.source,
  verifiedOn,
});

const usdc = { symbol: "USDC", name: "USD Coin", source: circle };
const eurc = { symbol: "EURC", name: "EURC", currencyCode: "EUR", source: circle };
const usdt = { symbol: "USDT", name: "Tether USD", source: tether };

/**
 * The curated seed: stablecoins by their issuers' own address lists. Decimals are per chain and never
 * guessed from a symbol; bridged tokens are other tokens and are left out.
 */
export const seed: CatalogueData = {
  chains: [
    chain("1", "Ethereum", "ETH"),
    chain("10", "OP Mainnet", "ETH"),
    chain("137", "Polygon PoS", "POL"),
    chain("8453", "Base", "ETH"),
    chain("42161", "Arbitrum One", "ETH"),
    chain("43114", "Avalanche C-Chain", "AVAX"),
    chain("11155111", "Sepolia", "ETH"),
    chain("84532", "Base Sepolia", "ETH"),
    {
      id: "solana",
      name: "Solana",
      symbol: "SOL",
      chainType: "SVM",
      caip2: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    },
    {
      id: "tron",
      name: "Tron",
      symbol: "TRX",
      chainType: "TVM",
      caip2: "tron:0x2b6653dc",
    },
  ],
  tokens: [
    stable("usdc-base", "8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", usdc),
    stable("usdc-ethereum", "1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", usdc),
    stable("usdc-optimism", "10", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", usdc),
    stable("usdc-polygon", "137", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", usdc),
    stable("usdc-arbitrum", "42161", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", usdc),
    stable("usdc-avalanche", "43114", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", usdc),
    stable("usdc-sepolia", "11155111", "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238", usdc),
    stable("usdc-base-sepolia", "84532", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", usdc),
    stable("usdc-solana", "solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", usdc),
    stable("eurc-base", "8453", "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42", eurc),
    stable("eurc-ethereum", "1", "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c", eurc),
    stable("usdt-ethereum", "1", "0xdAC17F958D2ee523a2206206994597C13D831ec7", usdt),
    stable("usdt-avalanche", "43114", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", usdt),
    stable("usdt-tron", "tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", usdt),
  ],
};
