import type { CatalogueData } from "./catalogue-data.ts";
import { devnet } from "./devnet.ts";

type FeeProxies = NonNullable<CatalogueData["chains"][number]["feeProxies"]>;

/** By chain id: the first entry of each chain there whose standard is EIP-3091. */
const explorers: Readonly<Record<string, string>> = {
  "1": "https://etherscan.io",
  "10": "https://optimistic.etherscan.io",
  "137": "https://polygonscan.com",
  "8453": "https://basescan.org",
  "42161": "https://arbiscan.io",
  "43114": "https://snowtrace.io",
  "84532": "https://base-sepolia.blockscout.com",
  "11155111": "https://sepolia.etherscan.io",
};

const explorerOf = (id: string) => {
  const url = explorers[id];
  const source = "ethereum-lists/chains, _data/chains, explorers";
  return url === undefined ? {} : { explorer: { url, source, verifiedOn: "2026-11-22" } };
};

const chain = (id: string, name: string, symbol: string, feeProxies?: FeeProxies) => ({
  id,
  name,
  symbol,
  chainType: "EVM" as const,
  caip2: `eip155:${id}`,
  ...explorerOf(id),
  ...(feeProxies === undefined ? {} : { feeProxies }),
});

const isTestNetwork = true;

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
 * The curated seed: stablecoins from their issuers' own address lists. Decimals differ per chain
 * and are never guessed from a symbol. Bridged tokens are other tokens and are left out.
 */
export const seed: CatalogueData = {
  chains: [
    // The proxies are Request Network's, by the address tables of @requestnetwork/smart-contracts
    // 0.48.0 (ERC20FeeProxy 0.1.0, on Polygon 0.2.0, and EthereumFeeProxy 0.2.0), read on
    // 2026-11-21; a test compares them. The first block is the older one of the two.
    chain("1", "Ethereum", "ETH", {
      erc20: "0x370DE27fdb7D1Ff1e1BaA7D11c5820a324Cf623C",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 10_774_767,
    }),
    chain("10", "OP Mainnet", "ETH", {
      erc20: "0x399F5EE127ce7432E4921a61b8CF52b0af52cbfE",
      ethereum: "0xe11BF2fDA23bF0A98365e1A4c04A87C9339e8687",
      firstBlock: 34_638_587,
    }),
    chain("137", "Polygon PoS", "POL", {
      erc20: "0x0DfbEe143b42B41eFC5A6F87bFD1fFC78c2f0aC9",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 17_427_742,
    }),
    chain("8453", "Base", "ETH", {
      erc20: "0x1892196E80C4c17ea5100Da765Ab48c1fE2Fb814",
      ethereum: "0xd9C3889eB8DA6ce449bfFE3cd194d08A436e96f2",
      firstBlock: 10_827_264,
    }),
    chain("42161", "Arbitrum One", "ETH", {
      erc20: "0x0DfbEe143b42B41eFC5A6F87bFD1fFC78c2f0aC9",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 5_309_741,
    }),
    chain("43114", "Avalanche C-Chain", "AVAX", {
      erc20: "0x0DfbEe143b42B41eFC5A6F87bFD1fFC78c2f0aC9",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 11_671_431,
    }),
    {
      ...chain("11155111", "Sepolia", "ETH", {
        erc20: "0x399F5EE127ce7432E4921a61b8CF52b0af52cbfE",
        ethereum: "0xe11BF2fDA23bF0A98365e1A4c04A87C9339e8687",
        firstBlock: 4_733_361,
      }),
      isTestNetwork,
    },
    { ...chain("84532", "Base Sepolia", "ETH"), isTestNetwork },
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
    {
      ...stable("usdt-ethereum", "1", "0xdAC17F958D2ee523a2206206994597C13D831ec7", usdt),
      // Its `approve` refuses to go from one allowance to another that are both above 0.
      approveResetsFirst: true,
    },
    stable("usdt-avalanche", "43114", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", usdt),
    stable("usdt-tron", "tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", usdt),
  ],
};

/** The development chain of `npm start` and its one token, worth nothing (`devnet.ts`). */
export const devnetSeed: CatalogueData = {
  chains: [
    {
      ...chain(devnet.chainId, "Local devnet", "ETH", {
        erc20: devnet.erc20FeeProxy,
        ethereum: devnet.ethereumFeeProxy,
        firstBlock: 0,
      }),
      isTestNetwork,
    },
  ],
  tokens: [
    stable(devnet.tokenId, devnet.chainId, devnet.token, {
      symbol: "USDC",
      name: "Test USD Coin",
      source: "deployed by the development chain itself",
    }),
  ],
};
