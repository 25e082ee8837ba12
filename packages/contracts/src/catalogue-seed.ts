import type { CatalogueData } from "./catalogue-data.ts";
import { devnet } from "./devnet.ts";

type FeeProxies = NonNullable<CatalogueData["chains"][number]["feeProxies"]>;

/**
 * Explorers by chain id. For each chain, this is the first explorer of its list whose standard is
 * EIP-3091.
 */
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

const getExplorerFields = (id: string) => {
  const url = explorers[id];
  const source = "ethereum-lists/chains, _data/chains, explorers";
  return url === undefined ? {} : { explorer: { url, source, verifiedOn: "2026-11-22" } };
};

/**
 * Public nodes without an access key, by chain id: the node of the chain's own developers if they
 * run one, else PublicNode's. Source: ethereum-lists/chains, _data/chains, rpc, and
 * DefiLlama/chainlist, constants/extraRpcs.js, both read on 2026-11-28.
 */
const publicRpcUrls: Readonly<Record<string, string>> = {
  "1": "https://ethereum-rpc.publicnode.com",
  "10": "https://mainnet.optimism.io",
  "137": "https://polygon-bor-rpc.publicnode.com",
  "8453": "https://mainnet.base.org",
  "42161": "https://arb1.arbitrum.io/rpc",
  "43114": "https://api.avax.network/ext/bc/C/rpc",
  "84532": "https://sepolia.base.org",
  "11155111": "https://ethereum-sepolia-rpc.publicnode.com",
};

const getPublicRpcUrlFields = (id: string) => {
  const publicRpcUrl = publicRpcUrls[id];
  return publicRpcUrl === undefined ? {} : { publicRpcUrl };
};

const createChain = (id: string, name: string, symbol: string, feeProxies?: FeeProxies) => ({
  id,
  name,
  symbol,
  chainType: "EVM" as const,
  caip2: `eip155:${id}`,
  ...getExplorerFields(id),
  ...getPublicRpcUrlFields(id),
  ...(feeProxies === undefined ? {} : { feeProxies }),
});

const isTestNetwork = true;

/**
 * Describes an explorer whose paths differ from EIP-3091. The paths come from the explorer's own
 * links.
 */
const createNonEip3091Explorer = (
  url: string,
  paths: { transactions: string; addresses: string },
) => ({
  explorer: { url, paths, source: "the explorer's own links", verifiedOn: laterVerifiedOn },
});
const createTronscanExplorer = (url: string) =>
  createNonEip3091Explorer(url, { transactions: "/#/transaction/{}", addresses: "/#/address/{}" });
/**
 * TronLink's published sources contain the nodes that Tron's documentation lists for each network.
 */
const createTronGridNodes = (origin: string) => ({
  walletNodes: {
    origins: [origin],
    source: "Tron's documents, connect to the TRON network",
    verifiedOn: laterVerifiedOn,
  },
});
const createSolanaExplorer = (cluster: string) =>
  createNonEip3091Explorer("https://explorer.solana.com", {
    transactions: `/tx/{}${cluster}`,
    addresses: `/address/{}${cluster}`,
  });
const createMempoolSpaceExplorer = (url: string) =>
  createNonEip3091Explorer(url, { transactions: "/tx/{}", addresses: "/address/{}" });

const circleSource = "Circle, USDC and EURC contract addresses page";
const tetherSource = "Tether, supported protocols page";
const paxosSource = "PayPal and Paxos, PYUSD contract addresses page";
const verifiedOn = "2026-11-21";
const laterVerifiedOn = "2026-11-23";

type Stablecoin = { symbol: string; name: string; currencyCode?: string; source: string };

/** Describes a stablecoin on one chain. The id consists of its symbol and the chain's name. */
const createStablecoin = (
  { symbol, name, currencyCode = "USD", source }: Stablecoin,
  chainName: string,
  chainId: string,
  address: string,
) => ({
  id: `${symbol.toLowerCase().replace(".", "")}-${chainName}`,
  chainId,
  address,
  decimals: 6,
  symbol,
  name,
  isNative: false,
  isStablecoin: true,
  currencyCode,
  commodityCode: null,
  source,
  verifiedOn,
});

const usdc = { symbol: "USDC", name: "USD Coin", source: circleSource };
const eurc = { symbol: "EURC", name: "EURC", currencyCode: "EUR", source: circleSource };
const pyusd = { symbol: "PYUSD", name: "PayPal USD", source: paxosSource };
const usdt = { symbol: "USDT", name: "Tether USD", source: tetherSource };
const nileUsdt = { ...usdt, source: "the test USDT that Nile's own faucet gives" };

/**
 * Sets the later verification date. The addresses of these families were also compared with public
 * code.
 */
const withLaterVerification = <Entry>(entries: readonly Entry[]) =>
  entries.map((entry) => ({ ...entry, verifiedOn: laterVerifiedOn }));

/**
 * Adds the evidence for suffix support. According to the sources, none of these contracts checks
 * the length of its calldata beyond the minimum.
 */
const withSuffixSupport = <Entry>(entry: Entry, source: string) => ({
  ...entry,
  takesSuffix: { source, verifiedOn: laterVerifiedOn },
});
const createCircleToken = (...parameters: Parameters<typeof createStablecoin>) =>
  withSuffixSupport(
    createStablecoin(...parameters),
    "circlefin/stablecoin-evm: FiatTokenV1 transfer, which no later version replaces, behind a proxy that hands all calldata on",
  );

const createSolanaToken = (
  tokenProgram: "token" | "token-2022",
  details: Stablecoin,
  chainId: string,
  address: string,
) => ({ ...createStablecoin(details, chainId, chainId, address), tokenProgram });

const createBitcoinCoin = (id: string, chainId: string) => ({
  id,
  chainId,
  address: "BTC",
  decimals: 8,
  symbol: "BTC",
  name: "Bitcoin",
  isNative: true,
  isStablecoin: false,
  currencyCode: null,
  commodityCode: null,
  source: "Bitcoin Core, 100,000,000 base units to a coin",
  verifiedOn: laterVerifiedOn,
});

const uniswapList = "Uniswap, default token list 22.21.0";
const avalancheBridge = "avaxskills.com, bridged assets of the Avalanche Bridge, and public code";
const bridgedUsdc = { symbol: "USDC.e", name: "Bridged USD Coin", source: uniswapList };
const bridgedUsdt = { symbol: "USDT.e", name: "Bridged Tether USD", source: avalancheBridge };
const baseUsdbc = { symbol: "USDbC", name: "USD Base Coin", source: uniswapList };

/** Describes a token that payers mistake for another token of its chain. Links never accept it. */
const createLookalike = (lookalikeOf: string, token: ReturnType<typeof createStablecoin>) => ({
  ...token,
  lookalikeOf,
  verifiedOn: "2026-11-28",
});

/**
 * The default catalogue: stablecoins from their issuers' own address lists. Decimals differ by
 * chain and are never guessed from a symbol. Bridged tokens are separate tokens that links never
 * accept.
 */
export const seed: CatalogueData = {
  chains: [
    // The proxies are those of Request Network, from the address tables of
    // @requestnetwork/smart-contracts 0.48.0 (ERC20FeeProxy 0.1.0, on Polygon 0.2.0, and
    // EthereumFeeProxy 0.2.0), read on 2026-11-21. A test compares them. `firstBlock` is the lower
    // deployment block of the two contracts.
    createChain("1", "Ethereum", "ETH", {
      erc20: "0x370DE27fdb7D1Ff1e1BaA7D11c5820a324Cf623C",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 10_774_767,
    }),
    createChain("10", "OP Mainnet", "ETH", {
      erc20: "0x399F5EE127ce7432E4921a61b8CF52b0af52cbfE",
      ethereum: "0xe11BF2fDA23bF0A98365e1A4c04A87C9339e8687",
      firstBlock: 34_638_587,
    }),
    createChain("137", "Polygon PoS", "POL", {
      erc20: "0x0DfbEe143b42B41eFC5A6F87bFD1fFC78c2f0aC9",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 17_427_742,
    }),
    createChain("8453", "Base", "ETH", {
      erc20: "0x1892196E80C4c17ea5100Da765Ab48c1fE2Fb814",
      ethereum: "0xd9C3889eB8DA6ce449bfFE3cd194d08A436e96f2",
      firstBlock: 10_827_264,
    }),
    createChain("42161", "Arbitrum One", "ETH", {
      erc20: "0x0DfbEe143b42B41eFC5A6F87bFD1fFC78c2f0aC9",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 5_309_741,
    }),
    createChain("43114", "Avalanche C-Chain", "AVAX", {
      erc20: "0x0DfbEe143b42B41eFC5A6F87bFD1fFC78c2f0aC9",
      ethereum: "0xfCFBcfc4f5A421089e3Df45455F7f4985FE2D6a8",
      firstBlock: 11_671_431,
    }),
    {
      ...createChain("11155111", "Sepolia", "ETH", {
        erc20: "0x399F5EE127ce7432E4921a61b8CF52b0af52cbfE",
        ethereum: "0xe11BF2fDA23bF0A98365e1A4c04A87C9339e8687",
        firstBlock: 4_733_361,
      }),
      isTestNetwork,
    },
    { ...createChain("84532", "Base Sepolia", "ETH"), isTestNetwork },
    // @requestnetwork/smart-contracts includes Tron's proxies only since 0.53. The values were read
    // on 2026-11-23 from the sources of Request Network's payment detector for Tron and of its
    // Substreams index.
    {
      id: "tron",
      name: "Tron",
      symbol: "TRX",
      chainType: "TVM",
      caip2: "tron:0x2b6653dc",
      feeProxies: {
        erc20: "TCUDPYnS9dH3WvFEaE7wN7vnDa51J4R4fd",
        ethereum: null,
        firstBlock: 79_216_121,
      },
      ...createTronscanExplorer("https://tronscan.org"),
      ...createTronGridNodes("https://api.trongrid.io"),
    },
    {
      id: "tron-nile",
      name: "Tron Nile",
      symbol: "TRX",
      chainType: "TVM",
      caip2: "tron:0xcd8690dc",
      feeProxies: {
        erc20: "THK5rNmrvCujhmrXa5DB1dASepwXTr9cJs",
        ethereum: null,
        firstBlock: 63_208_782,
      },
      ...createTronscanExplorer("https://nile.tronscan.org"),
      ...createTronGridNodes("https://nile.trongrid.io"),
      isTestNetwork,
    },
    {
      id: "solana",
      name: "Solana",
      symbol: "SOL",
      chainType: "SVM",
      caip2: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      ...createSolanaExplorer(""),
    },
    {
      id: "solana-devnet",
      name: "Solana Devnet",
      symbol: "SOL",
      chainType: "SVM",
      caip2: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
      ...createSolanaExplorer("?cluster=devnet"),
      isTestNetwork,
    },
    {
      id: "bitcoin",
      name: "Bitcoin",
      symbol: "BTC",
      chainType: "BVM",
      caip2: "bip122:000000000019d6689c085ae165831e93",
      ...createMempoolSpaceExplorer("https://mempool.space"),
    },
    {
      id: "bitcoin-testnet4",
      name: "Bitcoin Testnet4",
      symbol: "BTC",
      chainType: "BVM",
      caip2: "bip122:00000000da84f2bafbbc53dee25a72ae",
      ...createMempoolSpaceExplorer("https://mempool.space/testnet4"),
      isTestNetwork,
    },
  ],
  tokens: [
    createCircleToken(usdc, "base", "8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    createCircleToken(usdc, "ethereum", "1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
    createCircleToken(usdc, "optimism", "10", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
    createCircleToken(usdc, "polygon", "137", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
    createCircleToken(usdc, "arbitrum", "42161", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
    createCircleToken(usdc, "avalanche", "43114", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"),
    createCircleToken(usdc, "sepolia", "11155111", "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"),
    createCircleToken(usdc, "base-sepolia", "84532", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
    createCircleToken(eurc, "base", "8453", "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"),
    createCircleToken(eurc, "ethereum", "1", "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c"),
    {
      ...withSuffixSupport(
        createStablecoin(usdt, "ethereum", "1", "0xdAC17F958D2ee523a2206206994597C13D831ec7"),
        "TetherToken as verified on Etherscan: onlyPayloadSize rejects only shorter calldata",
      ),
      // `approve` of this token rejects a change between two allowances that are both above 0.
      approveResetsFirst: true,
    },
    createStablecoin(usdt, "avalanche", "43114", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7"),
    ...withLaterVerification([
      createStablecoin(usdt, "tron", "tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
      createStablecoin(nileUsdt, "tron-nile", "tron-nile", "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf"),
      createSolanaToken("token", usdc, "solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
      createSolanaToken("token", usdt, "solana", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"),
      createSolanaToken("token", eurc, "solana", "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"),
      createSolanaToken(
        "token-2022",
        pyusd,
        "solana",
        "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo",
      ),
      createSolanaToken(
        "token",
        usdc,
        "solana-devnet",
        "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
      ),
      createSolanaToken(
        "token-2022",
        pyusd,
        "solana-devnet",
        "CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM",
      ),
    ]),
    createBitcoinCoin("btc", "bitcoin"),
    createBitcoinCoin("btc-testnet4", "bitcoin-testnet4"),
    createLookalike(
      "usdc-polygon",
      createStablecoin(bridgedUsdc, "polygon", "137", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"),
    ),
    createLookalike(
      "usdc-arbitrum",
      createStablecoin(
        bridgedUsdc,
        "arbitrum",
        "42161",
        "0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8",
      ),
    ),
    createLookalike(
      "usdc-optimism",
      createStablecoin(bridgedUsdc, "optimism", "10", "0x7F5c764cBc14f9669B88837ca1490cCa17c31607"),
    ),
    createLookalike(
      "usdc-avalanche",
      createStablecoin(
        { ...bridgedUsdc, source: avalancheBridge },
        "avalanche",
        "43114",
        "0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664",
      ),
    ),
    createLookalike(
      "usdc-base",
      createStablecoin(baseUsdbc, "base", "8453", "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA"),
    ),
    createLookalike(
      "usdt-avalanche",
      createStablecoin(
        bridgedUsdt,
        "avalanche",
        "43114",
        "0xc7198437980c041c805A1EDcbA50c1Ce5db95118",
      ),
    ),
  ],
};

const devnetUsdc = {
  symbol: "USDC",
  name: "Test USD Coin",
  source: "deployed by the development chain itself",
};

/** The EVM development chain of `npm start` and its only token, which is worthless (`devnet.ts`). */
export const devnetSeed: CatalogueData = {
  chains: [
    {
      ...createChain(devnet.chainId, "Local devnet", "ETH", {
        erc20: devnet.erc20FeeProxy,
        ethereum: devnet.ethereumFeeProxy,
        firstBlock: 0,
      }),
      isTestNetwork,
    },
  ],
  tokens: [
    withSuffixSupport(
      createStablecoin(devnetUsdc, "devnet", devnet.chainId, devnet.token),
      "the project's own tests pay this way",
    ),
  ],
};
