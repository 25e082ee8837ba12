import { createRequire } from "node:module";
import { describe, expect, test } from "@jest/globals";
import { type Abi, decodeFunctionData, erc20Abi, toFunctionSelector, zeroAddress } from "viem";
import { deriveSolanaReference, toEip55 } from "@payment-links/chains";
import { tronAddressToHex } from "@payment-links/chains/tron-address";
import {
  type CatalogueToken,
  Decimal,
  ApiError,
  devnetSeed,
  loadCatalogue,
  pickLinkTexts,
} from "@payment-links/contracts";
import type { LinkView } from "./link-view.ts";
import { buildPaymentInstructions, getRemainingAmount } from "./payment-instructions.ts";

const now = new Date("2026-11-21T10:00:00.000Z");
const shopAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
const reference = "00112233445566778899aabbccddeeff";

const findToken = (tokenId: string): CatalogueToken => {
  const token = loadCatalogue(undefined, [devnetSeed]).findToken(tokenId);
  if (token === undefined) throw new Error(`the catalogue seed has no token ${tokenId}`);
  return token;
};
const usdc = findToken("usdc-base");
const coin: CatalogueToken = { ...findToken("usdc-sepolia"), isNative: true, decimals: 18 };

type SampleLink = LinkView & { owner: { username: string; isSuspended?: boolean } };

const sampleLink = (overrides: Partial<SampleLink> = {}): SampleLink => ({
  owner: { username: "Alice's Shop" },
  id: "plink_01m7y4kb9sfvktcnzb0r3g9a0s",
  userId: "user_01m7y4kb9sfvktcnzb0r3g9a0s",
  mode: "live",
  status: "active",
  toAmount: "25",
  receivedAmount: "0",
  currentUsage: 0,
  maxUsage: null,
  ...pickLinkTexts({}),
  createdAt: now,
  expiresAt: null,
  deactivatedAt: null,
  walletId: "wallet_01m7y4kb9sfvktcnzb0r3g9a0s",
  walletProvider: null,
  destinationAddress: shopAddress,
  tokenId: usdc.id,
  paymentReference: reference,
  lastTransactionId: null,
  ...overrides,
});

type SampleOptions = {
  token?: CatalogueToken;
  amount?: string;
  chains?: string[];
  /** Whether direct transfers to owners are tracked on the token's chain. */
  isTransferTracked?: boolean;
};

const buildInstructions = (
  link: SampleLink,
  {
    token = usdc,
    amount,
    chains = [token.chain.id],
    isTransferTracked = false,
  }: SampleOptions = {},
) =>
  buildPaymentInstructions(link, token, {
    amount: amount === undefined ? undefined : new Decimal(amount),
    settlementChains: new Set(chains),
    transferChains: new Set(isTransferTracked ? [token.chain.id] : []),
    now,
  });

describe("a link that has ended", () => {
  const endedLinks: [reason: string, link: Partial<SampleLink>][] = [
    ["completed", { status: "completed", receivedAmount: "25" }],
    ["expired", { expiresAt: now }],
    ["inactive", { status: "inactive" }],
  ];
  const buildForEndedLink = (link: SampleLink, isEndedLinkAllowed: boolean) =>
    buildPaymentInstructions(link, usdc, {
      settlementChains: new Set([usdc.chain.id]),
      transferChains: new Set(),
      now,
      isEndedLinkAllowed,
    });

  test.each(endedLinks)("offers no instructions to a payer when %s", (reason, overrides) => {
    expect(buildForEndedLink(sampleLink(overrides), false)).toEqual({ reason });
  });

  test.each(endedLinks)(
    "offers instructions for the full amount when %s and ended links are allowed for testing",
    (_, overrides) => {
      const result = buildForEndedLink(sampleLink(overrides), true);
      expect(result).toMatchObject({ instructions: { amountBaseUnits: 25_000_000n } });
    },
  );

  test("offers no instructions for a suspended owner even when ended links are allowed", () => {
    const link = sampleLink({ owner: { username: "Alice's Shop", isSuspended: true } });
    expect(buildForEndedLink(link, true)).toEqual({ reason: "account_suspended" });
  });
});

const requireInstructions = (link: SampleLink, options?: SampleOptions) => {
  const result = buildInstructions(link, options);
  if ("reason" in result) throw new Error(result.reason);
  return result.instructions;
};

/** Returns the instructions of a link that is paid through a proxy. */
const requireContractCalls = (link: SampleLink, options?: SampleOptions) => {
  const instructions = requireInstructions(link, options);
  if (!("steps" in instructions)) throw new Error("the instructions contain no calls");
  return instructions;
};

/** Uses the ABIs from Request Network's own package instead of our copies. */
const require = createRequire(import.meta.url);
const {
  abi: erc20FeeProxyAbi,
}: {
  abi: Abi;
} = require("@requestnetwork/smart-contracts/dist/src/lib/artifacts/ERC20FeeProxy/0.1.0.json");
const {
  abi: ethereumFeeProxyAbi,
}: {
  abi: Abi;
} = require("@requestnetwork/smart-contracts/dist/src/lib/artifacts/EthereumFeeProxy/0.1.0.json");

describe("the instructions for an ERC-20 token", () => {
  test("approve the exact amount, then pay it to the owner with the link's reference and no fee (rule CHAIN-1)", () => {
    const { steps, ways: _ways, ...otherFields } = requireContractCalls(sampleLink());
    const proxy = usdc.chain.feeProxies?.erc20;
    expect(otherFields).toEqual({
      amount: new Decimal(25),
      amountBaseUnits: 25_000_000n,
      proxyAddress: proxy,
      paymentReference: `0x${reference}`,
    });
    expect(steps.map(({ kind, to, value }) => [kind, to, value])).toEqual([
      ["approve", usdc.address, 0n],
      ["pay", proxy, 0n],
    ]);
    const [approve, pay] = steps.map(({ data }) => data);
    expect(decodeFunctionData({ abi: erc20Abi, data: approve ?? "0x" })).toEqual({
      functionName: "approve",
      args: [proxy, 25_000_000n],
    });
    expect(decodeFunctionData({ abi: erc20FeeProxyAbi, data: pay ?? "0x" })).toEqual({
      functionName: "transferFromWithReferenceAndFee",
      args: [usdc.address, shopAddress, 25_000_000n, `0x${reference}`, 0n, zeroAddress],
    });
    expect(pay?.slice(0, 10)).toBe("0xc219a14d");
  });

  test("reset the allowance to 0 first if the token requires it", () => {
    const usdt = findToken("usdt-ethereum");
    const { steps, proxyAddress } = requireContractCalls(sampleLink(), { token: usdt });
    expect(steps.map(({ kind }) => kind)).toEqual(["reset_allowance", "approve", "pay"]);
    const [reset] = steps;
    expect(decodeFunctionData({ abi: erc20Abi, data: reset?.data ?? "0x" }).args).toEqual([
      proxyAddress,
      0n,
    ]);
  });

  test.each([
    ["25", "0", "25"],
    ["25", "24.999999", "0.000001"],
    ["0.3", "0.1", "0.2"],
    ["12345678901234567890.123456", "0.000001", "12345678901234567890.123455"],
  ])(
    "given an amount of %s and %s received, request exactly %s",
    (toAmount, receivedAmount, remaining) => {
      const link = sampleLink({ toAmount, receivedAmount });
      const { amount, amountBaseUnits } = requireInstructions(link);
      expect(amount.toFixed()).toBe(remaining);
      expect(String(amountBaseUnits)).toBe(new Decimal(remaining).times(1_000_000).toFixed());
      expect(getRemainingAmount(link).toFixed()).toBe(remaining);
    },
  );

  test("use a different amount if the payer requests one", () => {
    expect(requireInstructions(sampleLink(), { amount: "30.5" }).amountBaseUnits).toBe(30_500_000n);
  });
});

describe("the ways to pay (rule CHAIN-10)", () => {
  const listWays = (options: SampleOptions, link: Partial<SampleLink> = {}) =>
    requireContractCalls(sampleLink(link), { isTransferTracked: true, ...options }).ways;
  const listWayKinds = (options: SampleOptions, link: Partial<SampleLink> = {}) =>
    listWays(options, link).map(({ kind, signatures }) => `${kind} ${signatures}`);

  test("are a batch, a transfer with suffix, and two steps, in this order", () => {
    expect(listWayKinds({})).toEqual(["batch 1", "suffix 1", "approve_and_pay 2"]);
    expect(listWayKinds({ token: findToken("usdt-ethereum") })).toEqual([
      "batch 1",
      "suffix 1",
      "approve_and_pay 3",
    ]);
  });

  test("include the contract steps unchanged in batch and sequence", () => {
    const { steps, ways } = requireContractCalls(sampleLink(), { isTransferTracked: true });
    const [batch, , sequential] = ways;
    expect([batch?.steps, sequential?.steps]).toEqual([steps, steps]);
  });

  test("include a suffix transfer: the token's own transfer to the owner plus 16 bytes", () => {
    const steps = listWays({ amount: "30.5" }).find(({ kind }) => kind === "suffix")?.steps ?? [];
    expect(steps).toMatchObject([{ kind: "pay", to: usdc.address, value: 0n }]);
    const [{ data } = { data: "0x" as const }] = steps;
    expect(data.slice(-32)).toBe(reference);
    expect(decodeFunctionData({ abi: erc20Abi, data: `0x${data.slice(2, -32)}` })).toEqual({
      functionName: "transfer",
      args: [shopAddress, 30_500_000n],
    });
    expect(data.length).toBe(2 + 2 * (4 + 32 + 32 + 16));
  });

  // Guards against lost payments: a suffix must not be offered if settlement-listener would not
  // find the transfer or if the token might reject it.
  test.each<[string, SampleOptions]>([
    ["transfers are not tracked", { isTransferTracked: false }],
    ["suffix support of the token is unknown", { token: findToken("usdt-avalanche") }],
    ["the amount is below the smallest deposit", { amount: "0.009999" }],
  ])("omit the suffix transfer if %s", (_case, options) => {
    expect(listWayKinds(options)).toEqual(["batch 1", "approve_and_pay 2"]);
    expect(
      listWayKinds({ ...options, amount: "0.01", isTransferTracked: true, token: usdc }),
    ).toContain("suffix 1");
  });

  test("contain one call for a native coin, and sequential calls on Tron", () => {
    expect(listWayKinds({ token: coin })).toEqual(["pay 1"]);
    const tronLink = { destinationAddress: "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC" };
    expect(listWayKinds({ token: findToken("usdt-tron") }, tronLink)).toEqual([
      "approve_and_pay 2",
    ]);
  });

  // A permit (EIP-2612) would have to be redeemed in the same transaction, by the proxy or by a
  // contract of ours.
  test("omit permits because the proxy's only entry point takes no signature", () => {
    const entries = erc20FeeProxyAbi.flatMap((abiEntry) =>
      abiEntry.type === "function"
        ? [abiEntry.name, abiEntry.inputs.map(({ type }) => type).join()]
        : [],
    );
    expect(entries).toEqual([
      "transferFromWithReferenceAndFee",
      "address,address,uint256,bytes,uint256,address",
    ]);
  });
});

test("the instructions for a native coin contain a single call with the amount as value", () => {
  const { steps, proxyAddress } = requireContractCalls(sampleLink({ toAmount: "1.5" }), {
    token: coin,
  });
  expect(proxyAddress).toBe(coin.chain.feeProxies?.ethereum);
  expect(steps).toMatchObject([
    { kind: "pay", to: proxyAddress, value: 1_500_000_000_000_000_000n },
  ]);
  const data = steps[0]?.data ?? "0x";
  expect(decodeFunctionData({ abi: ethereumFeeProxyAbi, data })).toEqual({
    functionName: "transferWithReferenceAndFee",
    args: [shopAddress, `0x${reference}`, 0n, zeroAddress],
  });
  expect(data.slice(0, 10)).toBe("0xb868980b");
});

describe("the instructions on Tron", () => {
  const token = findToken("usdt-tron");
  const owner = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC";
  const link = sampleLink({ destinationAddress: owner, tokenId: token.id });

  test("contain the same two calls with base58check addresses, in the form that Tron wallets take (rule CHAIN-1)", () => {
    const { steps, proxyAddress, paymentReference } = requireContractCalls(link, { token });
    expect(proxyAddress).toBe("TCUDPYnS9dH3WvFEaE7wN7vnDa51J4R4fd");
    expect(paymentReference).toBe(`0x${reference}`);
    const [approve, pay] = steps;
    expect(steps.map(({ kind, to, value }) => [kind, to, value])).toEqual([
      ["approve", token.address, 0n],
      ["pay", proxyAddress, 0n],
    ]);
    const toHexAddress = (address: string) => toEip55(tronAddressToHex(address));
    expect(decodeFunctionData({ abi: erc20Abi, data: approve?.data ?? "0x" }).args).toEqual([
      toHexAddress(proxyAddress),
      25_000_000n,
    ]);
    expect(decodeFunctionData({ abi: erc20FeeProxyAbi, data: pay?.data ?? "0x" }).args).toEqual([
      toHexAddress(token.address),
      toHexAddress(owner),
      25_000_000n,
      `0x${reference}`,
      0n,
      zeroAddress,
    ]);
    for (const { data, tron } of steps) {
      const { functionSelector = "", parameter, energyMax = 0, feeLimitSun } = tron ?? {};
      expect(data).toBe(`${toFunctionSelector(functionSelector)}${parameter}`);
      expect(feeLimitSun).toBe(BigInt(energyMax) * 420n);
    }
  });

  test("are not available for TRX, which has no proxy", () => {
    const trx = { ...token, isNative: true, address: "TRX" };
    expect(buildInstructions(link, { token: trx })).toEqual({ reason: "no_fee_proxy" });
  });
});

describe("the instructions on Solana", () => {
  const token = findToken("pyusd-solana");
  const owner = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
  const link = sampleLink({ destinationAddress: owner, receivedAmount: "4.5" });

  test("contain one request for the remaining amount with the link's reference key (rule CHAIN-1)", () => {
    const key = deriveSolanaReference(reference);
    const linkWithDescription = { ...link, description: "Order 7 & more" };
    expect(requireInstructions(linkWithDescription, { token })).toEqual({
      amount: new Decimal("20.5"),
      amountBaseUnits: 20_500_000n,
      transferRequestUrl:
        `solana:${owner}?amount=20.5&spl-token=${token.address}&reference=${key}` +
        `&label=Alice's%20Shop&message=Order%207%20%26%20more&memo=${link.id}`,
      recipient: owner,
      splToken: token.address,
      tokenProgram: "token-2022",
      reference: key,
    });
  });

  test("truncate a long description so that the QR code stays readable", () => {
    const instructions = requireInstructions({ ...link, description: "🦊".repeat(500) }, { token });
    const url = "transferRequestUrl" in instructions ? instructions.transferRequestUrl : "";
    expect(new URL(url).searchParams.get("message")).toBe("🦊".repeat(80));
  });

  test("are not available above the largest amount of the token's program", () => {
    const uint64MaxText = (2n ** 64n - 1n).toString();
    const buildForAmount = (toAmount: string) =>
      buildInstructions(sampleLink({ destinationAddress: owner, toAmount }), {
        token: { ...token, decimals: 0 },
      });
    expect(buildForAmount(uint64MaxText)).toMatchObject({
      instructions: { amountBaseUnits: BigInt(uint64MaxText) },
    });
    expect(buildForAmount((2n ** 64n).toString())).toEqual({ reason: "amount_not_payable" });
  });
});

describe("the instructions on Bitcoin", () => {
  const token = findToken("btc");
  const address = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
  const buildForAmount = (toAmount: string) =>
    buildInstructions(sampleLink({ destinationAddress: address, toAmount }), { token });

  test("request a payment to the link's own address without a reference (rule CHAIN-1)", () => {
    expect(buildForAmount("0.00123")).toEqual({
      instructions: {
        amount: new Decimal("0.00123"),
        amountBaseUnits: 123_000n,
        uri: `bitcoin:${address}?amount=0.00123&label=Alice's%20Shop`,
        address,
      },
    });
  });

  test.each(["0.00000545", "21000000.00000001"])(
    "are not available for %s, which is below the dust limit or above the total supply",
    (amount) => {
      expect(buildForAmount(amount)).toEqual({ reason: "amount_not_payable" });
    },
  );

  test.each(["0.00000546", "21000000"])("are available for %s", (amount) => {
    expect(buildForAmount(amount)).toHaveProperty("instructions");
  });
});

describe("no instructions are available (rule CHAIN-10)", () => {
  const uint256Max = 2n ** 256n - 1n;
  const { feeProxies: _feeProxies, ...chainWithoutProxies } = usdc.chain;
  test.each<[string, string, Partial<LinkView>, SampleOptions]>([
    ["for a completed link", "completed", { status: "completed", receivedAmount: "30" }, {}],
    ["for a deactivated link", "inactive", { status: "inactive" }, {}],
    ["for a link that expires at this instant", "expired", { expiresAt: now }, {}],
    ["for an expired link marked inactive", "expired", { status: "inactive", expiresAt: now }, {}],
    ["on a chain that is not watched", "chain_not_watched", {}, { chains: ["1"] }],
    [
      "on a chain without proxies",
      "no_fee_proxy",
      {},
      { token: { ...usdc, chain: chainWithoutProxies }, chains: ["8453"] },
    ],
    [
      "for a native coin on a chain without a proxy for it",
      "no_fee_proxy",
      {},
      {
        token: {
          ...coin,
          chain: { ...coin.chain, feeProxies: { erc20: "", ethereum: null, firstBlock: 0 } },
        },
      },
    ],
    [
      "above the largest amount of a token",
      "amount_not_payable",
      { toAmount: String(uint256Max + 1n) },
      { token: { ...usdc, decimals: 0 } },
    ],
  ])("%s: %s", (_name, reason, link, options) => {
    expect(buildInstructions(sampleLink(link), options)).toEqual({ reason });
  });

  test("instructions are available up to the largest amount of a token", () => {
    const token = { ...usdc, decimals: 0 };
    const { amountBaseUnits } = requireInstructions(sampleLink({ toAmount: String(uint256Max) }), {
      token,
    });
    expect(amountBaseUnits).toBe(uint256Max);
  });
});

test.each([
  ["0.0000001", "INVALID_PAYMENT_LINK_AMOUNT"],
  ["9".repeat(72), "decimal_max_digits"],
])("rejects a requested amount of %s: %s", (amount, code) => {
  for (const link of [sampleLink(), sampleLink({ status: "completed" })]) {
    let thrownError: unknown;
    try {
      buildInstructions(link, { amount });
    } catch (error) {
      thrownError = error;
    }
    expect(
      thrownError instanceof ApiError && thrownError.entries.map((entry) => entry.code),
    ).toEqual([code]);
  }
});
