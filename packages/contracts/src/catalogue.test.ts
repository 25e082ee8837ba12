import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExplorerUrl, isEvmAddress, toEip55 } from "@payment-links/chains";
import { createCatalogue, loadCatalogue, serializeToken } from "./catalogue.ts";
import { CatalogueData } from "./catalogue-data.ts";
import { devnetSeed, seed } from "./catalogue-seed.ts";
import { devnet } from "./devnet.ts";
import { TokenData } from "./payment-link.ts";
import { isAddress } from "@solana/kit";
import { TronWeb } from "tronweb";

const usdcOnBase = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const [base, solana] = ["8453", "solana"].map((id) => seed.chains.find((chain) => chain.id === id));
const [token, solanaToken] = ["usdc-base", "usdc-solana"].map((id) =>
  seed.tokens.find((candidate) => candidate.id === id),
);
const bridgedToken = seed.tokens.find((candidate) => candidate.id === "usdbc-base");
if (!base || !solana || !token || !solanaToken || !bridgedToken)
  throw new Error("the seed lacks an entry that the tests need");

describe("the seed", () => {
  const catalogue = loadCatalogue();

  test("satisfies its own schema", () => {
    expect(CatalogueData.parse(seed)).toEqual(seed);
  });

  test.each(seed.tokens.map((entry) => [entry.id, entry] as const))(
    "%s has a source, a date and an address that finds it (rule CHAIN-12)",
    (id, entry) => {
      expect(entry.source).not.toBe("");
      expect(new Date(entry.verifiedOn).getTime()).toBeLessThanOrEqual(Date.now());
      const isAccepted = !("lookalikeOf" in entry);
      expect(catalogue.findToken(id)?.chain.id).toBe(isAccepted ? entry.chainId : undefined);
      expect(catalogue.findTokenByAddress(entry.chainId, entry.address)?.id).toBe(id);
      if (isEvmAddress(entry.address)) expect(toEip55(entry.address)).toBe(entry.address);
    },
  );

  test("has an explorer with source and date for each EVM chain except the development chain", () => {
    const { chains } = loadCatalogue(undefined, [devnetSeed]);
    const evmChains = chains.filter(({ chainType }) => chainType === "EVM");
    for (const { id, explorer } of evmChains) {
      if (id === devnet.chainId) {
        expect(explorer).toBeUndefined();
        continue;
      }
      expect(explorer?.url).toMatch(/^https:\/\/[a-z.-]+$/);
      expect(explorer?.source).toContain("ethereum-lists/chains");
      expect(new Date(explorer?.verifiedOn ?? "").getTime()).toBeLessThanOrEqual(Date.now());
    }
    expect(new Set(evmChains.map(({ explorer }) => explorer?.url)).size).toBe(evmChains.length);
  });

  // The page asks wallets to add the network with this node, and MetaMask accepts only https.
  test("has a public node without an access key for each EVM chain except the development chain (rule CALLER-31)", () => {
    const { chains } = loadCatalogue(undefined, [devnetSeed]);
    const evmChains = chains.filter(({ chainType }) => chainType === "EVM");
    for (const { id, publicRpcUrl } of evmChains) {
      if (id === devnet.chainId) expect(publicRpcUrl).toBeUndefined();
      else expect(publicRpcUrl).toMatch(/^https:\/\/[a-z0-9.-]+(?:\/[a-zA-Z]{1,4})*$/);
    }
    expect(new Set(evmChains.map(({ publicRpcUrl }) => publicRpcUrl)).size).toBe(evmChains.length);
  });

  // Detects a mistyped digit. A payment through any other address would not be credited.
  test("has the fee proxies of Request Network's own tables", async () => {
    const names = {
      "1": "mainnet",
      "10": "optimism",
      "137": "matic",
      "8453": "base",
      "42161": "arbitrum-one",
      "43114": "avalanche",
      "11155111": "sepolia",
    };
    const require = createRequire(import.meta.url);
    const [erc20, ethereum] = await Promise.all(
      [
        require.resolve("@requestnetwork/smart-contracts/dist/src/lib/artifacts/ERC20FeeProxy/index.js"),
        require.resolve("@requestnetwork/smart-contracts/dist/src/lib/artifacts/EthereumFeeProxy/index.js"),
      ].map(readDeployments),
    );
    const chains = seed.chains.filter(
      ({ chainType, feeProxies }) => chainType === "EVM" && feeProxies !== undefined,
    );
    expect(chains.map(({ id }) => id).toSorted()).toEqual(Object.keys(names).toSorted());
    for (const { id, feeProxies } of chains) {
      const name = names[id as keyof typeof names];
      const firstBlocks = [erc20, ethereum].map((deployments, index) => {
        const address = index === 0 ? feeProxies?.erc20 : feeProxies?.ethereum;
        return deployments?.find((entry) => entry.name === name && entry.address === address)
          ?.firstBlock;
      });
      expect(firstBlocks).not.toContain(undefined);
      expect(feeProxies?.firstBlock).toBe(Math.min(...firstBlocks.map(Number)));
    }
  });

  // The installed package does not include Tron yet. The expected values repeat the addresses and
  // blocks from the sources of a later version.
  test("has the fee proxies of Tron in the form that TronWeb parses", () => {
    const tronProxies = seed.chains
      .filter(({ chainType }) => chainType === "TVM")
      .map(({ id, feeProxies }) => [id, feeProxies?.erc20, feeProxies?.firstBlock]);
    expect(tronProxies).toEqual([
      ["tron", "TCUDPYnS9dH3WvFEaE7wN7vnDa51J4R4fd", 79_216_121],
      ["tron-nile", "THK5rNmrvCujhmrXa5DB1dASepwXTr9cJs", 63_208_782],
    ]);
    for (const [, address] of tronProxies) expect(TronWeb.isAddress(address)).toBe(true);
  });

  test("has addresses that each family's own library accepts, and the programs of Solana tokens", () => {
    const tokensOfFamily = (chainType: string) =>
      catalogue.tokens.filter((entry) => entry.chain.chainType === chainType);
    for (const { address } of tokensOfFamily("TVM")) expect(TronWeb.isAddress(address)).toBe(true);
    for (const { address } of tokensOfFamily("SVM")) expect(isAddress(address)).toBe(true);
    // The program that manages a mint is recorded on chain. Only PYUSD uses Token-2022.
    expect(tokensOfFamily("SVM").map(({ id, tokenProgram }) => [id, tokenProgram])).toEqual([
      ["usdc-solana", "token"],
      ["usdt-solana", "token"],
      ["eurc-solana", "token"],
      ["pyusd-solana", "token-2022"],
      ["usdc-solana-devnet", "token"],
      ["pyusd-solana-devnet", "token-2022"],
    ]);
    expect(
      tokensOfFamily("BVM").map(({ id, address, decimals }) => [id, address, decimals]),
    ).toEqual([
      ["btc", "BTC", 8],
      ["btc-testnet4", "BTC", 8],
    ]);
  });

  test("has every non-EVM chain that rule API-24 names, each with an explorer (rule API-24)", () => {
    const nonEvmChains = seed.chains.filter(({ chainType }) => chainType !== "EVM");
    expect(nonEvmChains.map(({ id, isTestNetwork }) => [id, isTestNetwork ?? false])).toEqual([
      ["tron", false],
      ["tron-nile", true],
      ["solana", false],
      ["solana-devnet", true],
      ["bitcoin", false],
      ["bitcoin-testnet4", true],
    ]);
    for (const { explorer } of nonEvmChains) expect(explorer?.paths?.transactions).toContain("{}");
  });

  test("serializes exactly the fields of rule API-7", () => {
    const serializedToken = serializeToken({ ...token, chain: base }, "https://pay.example");
    expect(TokenData.strict().parse(serializedToken)).toEqual(serializedToken);
    expect(serializedToken.chain.logo).toBe("https://pay.example/checkout/logos/8453.svg");
  });
});

/**
 * Reads the addresses at which Request Network deployed a contract. Parses the package as text,
 * because importing it requires ethers.
 */
const readDeployments = async (file: string) => {
  const text = await readFile(file, "utf8");
  const entry = /'?([\w-]+)'?: \{\s*address: '(0x\w+)',\s*creationBlockNumber: (\d+)/g;
  return [...text.matchAll(entry)].map(([, name, address, block]) => ({
    name,
    address,
    firstBlock: Number(block),
  }));
};

// Protects money: a contract that no one has reviewed may reject a reference after its calldata or
// drop it.
test("only tokens with a reviewed contract accept a suffix, each with source and date", () => {
  const tokensWithSuffix = seed.tokens.filter(({ takesSuffix }) => takesSuffix !== undefined);
  expect(tokensWithSuffix.map(({ id }) => id).toSorted()).toEqual([
    "eurc-base",
    "eurc-ethereum",
    "usdc-arbitrum",
    "usdc-avalanche",
    "usdc-base",
    "usdc-base-sepolia",
    "usdc-ethereum",
    "usdc-optimism",
    "usdc-polygon",
    "usdc-sepolia",
    "usdt-ethereum",
  ]);
  for (const { takesSuffix } of tokensWithSuffix) {
    expect(takesSuffix?.source).toMatch(/FiatTokenV1|TetherToken/);
    expect(new Date(takesSuffix?.verifiedOn ?? "").getTime()).toBeLessThanOrEqual(Date.now());
  }
});

describe("the development chain", () => {
  test("is in the catalogue only on request, next to the seed", () => {
    expect(loadCatalogue().findToken(devnet.tokenId)).toBeUndefined();
    const catalogue = loadCatalogue(undefined, [devnetSeed]);
    expect(catalogue.findTokenByAddress(devnet.chainId, devnet.token)).toMatchObject({
      id: devnet.tokenId,
      decimals: 6,
      symbol: "USDC",
      chain: {
        name: "Local devnet",
        feeProxies: { erc20: devnet.erc20FeeProxy, ethereum: devnet.ethereumFeeProxy },
      },
    });
    expect(catalogue.findToken("usdc-base")).toBeDefined();
  });
});

describe("findTokenByAddress", () => {
  const catalogue = loadCatalogue();

  test("ignores case on an EVM chain", () => {
    for (const address of [usdcOnBase.toLowerCase(), `0x${usdcOnBase.slice(2).toUpperCase()}`]) {
      expect(catalogue.findTokenByAddress("8453", address)?.id).toBe("usdc-base");
    }
  });

  test("respects case on other chains, where it distinguishes addresses", () => {
    expect(catalogue.findTokenByAddress("solana", solanaToken.address)?.id).toBe("usdc-solana");
    const lowercased = solanaToken.address.toLowerCase();
    expect(catalogue.findTokenByAddress("solana", lowercased)).toBeUndefined();
  });

  test.each([
    ["1", usdcOnBase],
    ["", usdcOnBase],
    ["8453", ""],
    ["__proto__", "toString"],
  ])("finds nothing on chain %j at %j", (chainId, address) => {
    expect(catalogue.findTokenByAddress(chainId, address)).toBeUndefined();
  });

  test("findToken ignores the names of built-in object properties", () => {
    expect(catalogue.findToken("constructor")).toBeUndefined();
  });
});

describe("buildExplorerUrl", () => {
  const { chains } = loadCatalogue();
  const findExplorerUrl = (id: string, transactionHash: string) => {
    const chain = chains.find((entry) => entry.id === id);
    return chain === undefined ? undefined : buildExplorerUrl(chain, transactionHash);
  };
  const hash = "ab".repeat(32);
  const signature = "5".repeat(88);

  test.each([
    ["8453", `0x${hash}`, `https://basescan.org/tx/0x${hash}`],
    ["tron", `0x${hash}`, `https://tronscan.org/#/transaction/${hash}`],
    ["tron-nile", hash, `https://nile.tronscan.org/#/transaction/${hash}`],
    ["solana", signature, `https://explorer.solana.com/tx/${signature}`],
    ["solana-devnet", signature, `https://explorer.solana.com/tx/${signature}?cluster=devnet`],
    ["bitcoin", hash, `https://mempool.space/tx/${hash}`],
    ["bitcoin-testnet4", hash, `https://mempool.space/testnet4/tx/${hash}`],
  ])("%s, %s: returns %s", (id, transactionHash, url) => {
    expect(findExplorerUrl(id, transactionHash)).toBe(url);
  });

  test.each([
    ["8453", hash],
    ["8453", `0x${hash}/../x`],
    ["solana", `0x${hash}`],
    ["solana", `${signature.slice(0, 80)}?x=1`],
    ["bitcoin", `0x${hash}`],
    ["tron", ""],
    ["84532", "javascript:alert(1)"],
  ])(
    "%s: returns undefined for %s, which is not a transaction hash of that chain",
    (id, transactionHash) => {
      expect(findExplorerUrl(id, transactionHash)).toBeUndefined();
    },
  );
});

const tron = seed.chains.find((chain) => chain.id === "tron");
const bitcoin = seed.chains.find((chain) => chain.id === "bitcoin");
const [tronToken, bitcoinToken] = ["usdt-tron", "btc"].map((id) =>
  seed.tokens.find((entry) => entry.id === id),
);
if (!tron || !bitcoin || !tronToken || !bitcoinToken) throw new Error("the seed lacks a family");
const allChainsData = { chains: [base, solana, tron, bitcoin], tokens: [] };

const createFeeProxies = (erc20: string, ethereum: string | null = null) => ({
  erc20,
  ethereum,
  firstBlock: 0,
});

describe("a look-alike token (rule CHAIN-27)", () => {
  const catalogue = loadCatalogue();

  // Protects money: a link in a look-alike would receive money that its owner did not ask for.
  test("is found by its address, but is not offered to links and wallets", () => {
    const lookalikes = catalogue.lookalikes.map(
      ({ id, chainId, symbol, decimals, lookalikeOf }) => [
        id,
        chainId,
        `${symbol} ${decimals}`,
        lookalikeOf,
      ],
    );
    expect(lookalikes).toEqual([
      ["usdce-polygon", "137", "USDC.e 6", "usdc-polygon"],
      ["usdce-arbitrum", "42161", "USDC.e 6", "usdc-arbitrum"],
      ["usdce-optimism", "10", "USDC.e 6", "usdc-optimism"],
      ["usdce-avalanche", "43114", "USDC.e 6", "usdc-avalanche"],
      ["usdbc-base", "8453", "USDbC 6", "usdc-base"],
      ["usdte-avalanche", "43114", "USDT.e 6", "usdt-avalanche"],
    ]);
    const accepted = new Set(catalogue.tokens.map(({ id }) => id));
    for (const { id, chainId, address, lookalikeOf = "" } of catalogue.lookalikes) {
      expect(catalogue.findTokenByAddress(chainId, address.toLowerCase())?.id).toBe(id);
      expect([accepted.has(id), catalogue.findToken(id)]).toEqual([false, undefined]);
      expect(catalogue.findToken(lookalikeOf)?.chainId).toBe(chainId);
    }
  });
});

describe("createCatalogue rejects", () => {
  const usdcet = "A9mUU4qviSctJVPJdBJWkb28deg915LYJKrzQ19ji3FM";
  const data = { chains: [base, solana], tokens: [token, solanaToken] };
  test.each([
    ["a duplicate chain", { ...data, chains: [base, base, solana] }, /duplicate chain 8453/],
    [
      "an EVM chain with a name as its id",
      { ...data, chains: [{ ...base, id: "base" }] },
      /EVM chain base must name/,
    ],
    [
      "an EVM chain with the CAIP-2 name of another chain",
      { ...data, chains: [{ ...base, caip2: "eip155:1" }] },
      /EVM chain 8453 must name/,
    ],
    ["a token on an unknown chain", { ...data, chains: [base] }, /usdc-solana is on an unknown/],
    [
      "an address without its checksum",
      { ...data, tokens: [{ ...token, address: usdcOnBase.toLowerCase() }] },
      /usdc-base is not an EIP-55 address/,
    ],
    [
      "an invalid address",
      { ...data, tokens: [{ ...token, address: "0x12" }] },
      /not an EIP-55 address/,
    ],
    [
      "a fee proxy without its checksum",
      {
        ...data,
        chains: [{ ...base, feeProxies: createFeeProxies(usdcOnBase.toLowerCase()) }, solana],
      },
      /the fee proxies of chain 8453/,
    ],
    [
      "an invalid address of the native coin's fee proxy",
      { ...data, chains: [{ ...base, feeProxies: createFeeProxies(usdcOnBase, "0x12") }, solana] },
      /the fee proxies of chain 8453/,
    ],
    [
      "fee proxies on a chain of another family",
      { ...data, chains: [base, { ...solana, feeProxies: createFeeProxies(usdcOnBase) }] },
      /the fee proxies of chain solana/,
    ],
    [
      "a mint with an extra letter",
      { ...allChainsData, tokens: [{ ...solanaToken, address: `${solanaToken.address}11` }] },
      /usdc-solana is not a Solana address/,
    ],
    [
      "a Tron token in hex",
      { ...allChainsData, tokens: [{ ...tronToken, address: `0x${"ab".repeat(20)}` }] },
      /usdt-tron is not a Tron address/,
    ],
    [
      "a token on Bitcoin",
      { ...allChainsData, tokens: [{ ...bitcoinToken, isNative: false }] },
      /btc is not the chain's symbol/,
    ],
    [
      "a coin under another name",
      { ...allChainsData, tokens: [{ ...bitcoinToken, address: "bitcoin" }] },
      /btc is not the chain's symbol/,
    ],
    [
      "a Solana program on another family",
      { ...allChainsData, tokens: [{ ...tronToken, tokenProgram: "token" as const }] },
      /usdt-tron is not a Solana token/,
    ],
    [
      "suffix support on a chain without calldata",
      {
        ...data,
        tokens: [{ ...solanaToken, takesSuffix: { source: "x", verifiedOn: "2026-11-23" } }],
      },
      /usdc-solana has no calldata/,
    ],
    [
      "suffix support for a native coin",
      {
        ...allChainsData,
        tokens: [{ ...bitcoinToken, takesSuffix: { source: "x", verifiedOn: "2026-11-23" } }],
      },
      /btc has no calldata/,
    ],
    [
      "an unknown Bitcoin network",
      { ...allChainsData, chains: [{ ...bitcoin, id: "bitcoin-testnet" }] },
      /bitcoin-testnet is not a supported/,
    ],
    [
      "an EVM proxy on Tron",
      { ...allChainsData, chains: [{ ...tron, feeProxies: createFeeProxies(usdcOnBase) }] },
      /the fee proxies of chain tron/,
    ],
    [
      "a proxy for native coins on Tron",
      {
        ...allChainsData,
        chains: [{ ...tron, feeProxies: createFeeProxies(tronToken.address, tronToken.address) }],
      },
      /the fee proxies of chain tron/,
    ],
    [
      "a duplicate token",
      { ...data, tokens: [solanaToken, solanaToken] },
      /duplicate token or address: usdc-solana/,
    ],
    [
      "a look-alike of an unknown token",
      { ...data, tokens: [token, { ...bridgedToken, lookalikeOf: "usdc" }] },
      /usdbc-base is not a valid look-alike/,
    ],
    [
      "a look-alike of another chain's token",
      { ...data, tokens: [token, solanaToken, { ...bridgedToken, lookalikeOf: "usdc-solana" }] },
      /usdbc-base is not a valid look-alike/,
    ],
    [
      "a look-alike of itself",
      { ...data, tokens: [token, { ...bridgedToken, lookalikeOf: "usdbc-base" }] },
      /usdbc-base is not a valid look-alike/,
    ],
    [
      "a look-alike on Solana",
      {
        ...data,
        tokens: [
          solanaToken,
          { ...solanaToken, id: "usdcet", address: usdcet, lookalikeOf: "usdc-solana" },
        ],
      },
      /usdcet is not a valid look-alike/,
    ],
    [
      "a look-alike with suffix support",
      { ...data, tokens: [token, { ...bridgedToken, takesSuffix: token.takesSuffix }] },
      /usdbc-base is not a valid look-alike/,
    ],
    [
      "a duplicate address",
      { ...data, tokens: [token, { ...token, id: "usdc-base-again" }] },
      /duplicate token or address: usdc-base-again/,
    ],
  ])("%s", (_name, invalidData, message) => {
    expect(() => createCatalogue(invalidData)).toThrow(message);
  });
});

describe("CATALOGUE_FILE", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "catalogue-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const writeCatalogueFile = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };

  test("replaces the whole seed (rule CHAIN-12)", async () => {
    const customData = { chains: [solana], tokens: [{ ...solanaToken, id: "our-usdc" }] };
    const catalogue = loadCatalogue(
      await writeCatalogueFile("own.json", JSON.stringify(customData)),
    );
    expect(catalogue.tokens.map((entry) => entry.id)).toEqual(["our-usdc"]);
    expect(catalogue.findToken("usdc-base")).toBeUndefined();
  });

  test("replaces the seed and keeps the development chain if requested", async () => {
    const customData = {
      chains: [{ ...base, feeProxies: createFeeProxies(usdcOnBase) }],
      tokens: [token],
    };
    const file = await writeCatalogueFile("own-devnet.json", JSON.stringify(customData));
    const catalogue = loadCatalogue(file, [devnetSeed]);
    expect(catalogue.tokens.map(({ id }) => id)).toEqual([token.id, devnet.tokenId]);
    expect(catalogue.chains[0]?.feeProxies).toEqual(createFeeProxies(usdcOnBase));
    const rewrittenFile = await writeCatalogueFile("own-devnet.json", JSON.stringify(catalogue));
    expect(loadCatalogue(rewrittenFile, [devnetSeed]).tokens).toHaveLength(2);
  });

  test.each([
    ["invalid JSON", "{", /broken\.json cannot be used: SyntaxError/],
    ["a field of the wrong type", '{"chains":[],"tokens":[{}]}', /broken\.json(.|\n)*decimals/],
    [
      "more decimals than any token has",
      JSON.stringify({ chains: [base], tokens: [{ ...token, decimals: 37 }] }),
      /broken\.json(.|\n)*decimals/,
    ],
    [
      "a chain id that is not a path segment",
      JSON.stringify({ chains: [{ ...solana, id: "../x" }], tokens: [] }),
      /broken\.json(.|\n)*chains\[0\]\.id/,
    ],
    ...[
      "http://a.example",
      "https://a.example/",
      "javascript:alert(1)//",
      "https://a@b.example",
    ].map((url): [string, string, RegExp] => [
      `an explorer at ${url}`,
      JSON.stringify({
        chains: [{ ...base, explorer: { url, source: "x", verifiedOn: "2026-11-22" } }],
        tokens: [],
      }),
      /broken\.json(.|\n)*chains\[0\]\.explorer\.url/,
    ]),
    [
      "an invalid date",
      JSON.stringify({ chains: [base], tokens: [{ ...token, verifiedOn: "yesterday" }] }),
      /broken\.json(.|\n)*verifiedOn/,
    ],
  ])("given %s, throws and names the file", async (_name, text, message) => {
    const file = await writeCatalogueFile("broken.json", text);
    expect(() => loadCatalogue(file)).toThrow(message);
  });

  test("given a missing file, throws and names it", () => {
    expect(() => loadCatalogue(join(directory, "none.json"))).toThrow(/none\.json cannot be used/);
  });
});
