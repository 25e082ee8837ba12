import { createRequire } from "node:module";
import { describe, expect, test } from "@jest/globals";
import { type Abi, decodeFunctionData, erc20Abi, zeroAddress } from "viem";
import {
  type CatalogueToken,
  Decimal,
  Refusal,
  openCatalogue,
  linkTexts,
} from "@payment-links/contracts";
import type { LinkView } from "./link-view.ts";
import { instructPayer, remainingAmount } from "./payment-instructions.ts";

const now = new Date("2026-11-21T10:00:00.000Z");
const shopAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
const reference = "00112233445566778899aabbccddeeff";

const findToken = (tokenId: string): CatalogueToken => {
  const token = openCatalogue(undefined, { withDevnet: true }).findToken(tokenId);
  if (token === undefined) throw new Error(`the seed has no ${tokenId}`);
  return token;
};
const usdc = findToken("usdc-base");
const coin: CatalogueToken = { ...findToken("usdc-sepolia"), isNative: true, decimals: 18 };

type SampleLink = LinkView & { owner: { isSuspended?: boolean } };

const sampleLink = (more: Partial<SampleLink> = {}): SampleLink => ({
  owner: {},
  id: "plink_01m7y4kb9sfvktcnzb0r3g9a0s",
  userId: "user_01m7y4kb9sfvktcnzb0r3g9a0s",
  status: "active",
  toAmount: "25",
  receivedAmount: "0",
  currentUsage: 0,
  maxUsage: null,
  ...linkTexts({}),
  createdAt: now,
  expiresAt: null,
  walletId: "wallet_01m7y4kb9sfvktcnzb0r3g9a0s",
  walletProvider: null,
  destinationAddress: shopAddress,
  tokenId: usdc.id,
  paymentReference: reference,
  lastTransactionId: null,
  ...more,
});

type Wish = { token?: CatalogueToken; amount?: string; chains?: string[] };

const advise = (link: SampleLink, { token = usdc, amount, chains = [token.chain.id] }: Wish = {}) =>
  instructPayer(link, token, {
    amount: amount === undefined ? undefined : new Decimal(amount),
    settlementChains: new Set(chains),
    now,
  });

const instruct = (link: SampleLink, wish?: Wish) => {
  const advice = advise(link, wish);
  if ("reason" in advice) throw new Error(advice.reason);
  return advice.instructions;
};

/** The interfaces from Request Network's own package, not as we wrote them down. */
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

describe("the instructions of an ERC-20 token", () => {
  test("approve exactly what is paid, then pay it to the owner by the link's reference, without a fee", () => {
    const { steps, ...rest } = instruct(sampleLink());
    const proxy = usdc.chain.feeProxies?.erc20;
    expect(rest).toEqual({
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

  test("put the allowance back to 0 first where the token wants it so", () => {
    const usdt = findToken("usdt-ethereum");
    const { steps, proxyAddress } = instruct(sampleLink(), { token: usdt });
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
    "given %s asked for and %s received, ask for %s, exactly",
    (toAmount, receivedAmount, rest) => {
      const link = sampleLink({ toAmount, receivedAmount });
      const { amount, amountBaseUnits } = instruct(link);
      expect(amount.toFixed()).toBe(rest);
      expect(String(amountBaseUnits)).toBe(new Decimal(rest).times(1_000_000).toFixed());
      expect(remainingAmount(link).toFixed()).toBe(rest);
    },
  );

  test("given another amount, are of that amount", () => {
    expect(instruct(sampleLink(), { amount: "30.5" }).amountBaseUnits).toBe(30_500_000n);
  });
});

test("the instructions of a native coin send it with the one call", () => {
  const { steps, proxyAddress } = instruct(sampleLink({ toAmount: "1.5" }), { token: coin });
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

describe("there are no instructions", () => {
  const uint256Max = 2n ** 256n - 1n;
  const { feeProxies: _feeProxies, ...unproxied } = usdc.chain;
  test.each<[string, string, Partial<LinkView>, Wish]>([
    ["of a completed link", "completed", { status: "completed", receivedAmount: "30" }, {}],
    ["of a deactivated link", "inactive", { status: "inactive" }, {}],
    ["of a link that expires at this very instant", "expired", { expiresAt: now }, {}],
    ["of an expired link that is marked", "expired", { status: "inactive", expiresAt: now }, {}],
    ["where the chain is not watched", "chain_not_watched", {}, { chains: ["1"] }],
    [
      "where the chain has no proxies",
      "no_fee_proxy",
      {},
      { token: { ...usdc, chain: unproxied }, chains: ["8453"] },
    ],
    [
      "where the chain has none for native coins",
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
      "of more than a token can have",
      "amount_not_payable",
      { toAmount: String(uint256Max + 1n) },
      { token: { ...usdc, decimals: 0 } },
    ],
  ])("%s: %s", (_name, reason, link, wish) => {
    expect(advise(sampleLink(link), wish)).toEqual({ reason });
  });

  test("and up to the largest amount that a token can have there are", () => {
    const token = { ...usdc, decimals: 0 };
    const { amountBaseUnits } = instruct(sampleLink({ toAmount: String(uint256Max) }), { token });
    expect(amountBaseUnits).toBe(uint256Max);
  });
});

test.each([
  ["0.0000001", "INVALID_PAYMENT_LINK_AMOUNT"],
  ["9".repeat(72), "decimal_max_digits"],
])("another amount of %s is refused: %s", (amount, code) => {
  for (const link of [sampleLink(), sampleLink({ status: "completed" })]) {
    let refusal: unknown;
    try {
      advise(link, { amount });
    } catch (error) {
      refusal = error;
    }
    expect(refusal instanceof Refusal && refusal.entries.map((entry) => entry.code)).toEqual([
      code,
    ]);
  }
});
