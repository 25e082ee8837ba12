import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { type CatalogueData, devnet } from "@payment-links/contracts";

const testUsdc = {
  decimals: 6,
  symbol: "USDC",
  name: "Test USD Coin",
  isNative: false,
  isStablecoin: true,
  currencyCode: "USD",
  commodityCode: null,
  verifiedOn: "2026-11-23",
};

/**
 * The local Solana chain and its only token. The mint's key and the genesis are derived from fixed
 * strings, so they are the same on every machine.
 */
export const localSolanaSeed: CatalogueData = {
  chains: [
    {
      id: "local-solana",
      name: "Local Solana",
      symbol: "SOL",
      chainType: "SVM",
      caip2: "solana:HNTjQZL5qS9CetbHQLURh1J3YLHKpr65",
      isTestNetwork: true,
    },
  ],
  tokens: [
    {
      ...testUsdc,
      id: "usdc-local-solana",
      chainId: "local-solana",
      address: "Ed86eDAAtdE7BVQyxfHR7Jeekgpfvp9aYspjP3QZ3cJo",
      tokenProgram: "token",
      source: "issued by the local chain itself",
    },
  ],
};

/** The EVM chain id of the node behind the local Tron proxy. */
export const localTronChainId = 1338;

/**
 * The local Tron chain and its only token. It uses the devnet's contracts with Tron-encoded
 * addresses.
 */
export const localTronSeed: CatalogueData = {
  chains: [
    {
      id: "local-tron",
      name: "Local Tron",
      symbol: "TRX",
      chainType: "TVM",
      caip2: `tron:0x${localTronChainId.toString(16)}`,
      feeProxies: {
        erc20: tronAddressFromHex(devnet.erc20FeeProxy),
        ethereum: null,
        firstBlock: 0,
      },
      isTestNetwork: true,
    },
  ],
  tokens: [
    {
      ...testUsdc,
      id: "usdc-local-tron",
      chainId: "local-tron",
      address: tronAddressFromHex(devnet.token),
      source: "deployed by the development chain itself",
    },
  ],
};

/** The local Bitcoin chain: btcd's regtest chain, which has the same genesis on every machine. */
export const localBitcoinSeed: CatalogueData = {
  chains: [
    {
      id: "local-bitcoin",
      name: "Local Bitcoin",
      symbol: "BTC",
      chainType: "BVM",
      caip2: "bip122:0f9188f13cb7b2c71f2a335e3a4fc328",
      isTestNetwork: true,
    },
  ],
  tokens: [
    {
      id: "btc-local-bitcoin",
      chainId: "local-bitcoin",
      address: "BTC",
      decimals: 8,
      symbol: "BTC",
      name: "Bitcoin",
      isNative: true,
      isStablecoin: false,
      currencyCode: null,
      commodityCode: null,
      source: "mined by the local chain itself",
      verifiedOn: "2026-11-23",
    },
  ],
};
