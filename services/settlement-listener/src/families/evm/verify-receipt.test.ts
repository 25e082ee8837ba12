import { describe, expect, test } from "@jest/globals";
import { type Hex, encodeAbiParameters, encodeEventTopics, keccak256, pad, parseAbi } from "viem";
import { type CatalogueToken, openCatalogue, toEip55 } from "@payment-links/contracts";
import type { EventLog } from "./decode-event.ts";
import { type PayableChain, pairReceipt, verifyReceipt } from "./verify-receipt.ts";

// Encoded by a library that is not ours, from the contracts' own signatures.
const abi = parseAbi([
  "event TransferWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const nativeAbi = parseAbi([
  "event TransferWithReferenceAndFee(address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
]);

const addressOf = (digit: string): Hex => `0x${digit.repeat(40)}`;
const proxy = addressOf("1");
const coinProxy = addressOf("2");
const usdc = addressOf("3");
const usd18 = addressOf("4");
const owner = addressOf("5");
const payer = addressOf("6");
const nobody: Hex = "0x0000000000000000000000000000000000000000";
const reference: Hex = "0x00112233445566778899aabbccddeeff";
const [uint, address] = [{ type: "uint256" } as const, { type: "address" } as const];

const catalogueToken = (more: Partial<CatalogueToken>): CatalogueToken => {
  const token = openCatalogue().findToken("usdc-base");
  if (token === undefined) throw new Error("the catalogue has no USDC on Base");
  return { ...token, ...more };
};

const chain: PayableChain = {
  proxies: { erc20: proxy, ethereum: coinProxy },
  tokens: new Map([
    [usdc, catalogueToken({ address: toEip55(usdc), decimals: 6 })],
    [usd18, catalogueToken({ address: toEip55(usd18), decimals: 18 })],
  ]),
  nativeToken: catalogueToken({ address: toEip55(addressOf("e")), decimals: 18, isNative: true }),
  showAddress: (shown) => shown,
};

const event = (
  more: { from?: Hex; token?: Hex; to?: Hex; amount?: bigint; reference?: Hex } = {},
): EventLog => ({
  address: more.from ?? proxy,
  topics: encodeEventTopics({
    abi,
    eventName: "TransferWithReferenceAndFee",
    args: { paymentReference: more.reference ?? reference },
  }) as Hex[],
  data: encodeAbiParameters(
    [address, address, uint, uint, address],
    [more.token ?? usdc, more.to ?? owner, more.amount ?? 100n, 0n, nobody],
  ),
});

const transfer = (more: { token?: Hex; to?: Hex; amount?: bigint } = {}): EventLog => ({
  address: more.token ?? usdc,
  topics: encodeEventTopics({
    abi,
    eventName: "Transfer",
    args: { from: payer, to: more.to ?? owner },
  }) as Hex[],
  data: encodeAbiParameters([uint], [more.amount ?? 100n]),
});

const coinEvent = (amount: bigint, from = coinProxy): EventLog => ({
  address: from,
  topics: encodeEventTopics({ abi: nativeAbi, args: { paymentReference: reference } }) as Hex[],
  data: encodeAbiParameters([address, uint, uint, address], [owner, amount, 0n, nobody]),
});

const word = "00".repeat(32);

const verify = (...logs: EventLog[]) =>
  verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain).map(
    ({ ordinal, amount }) => [ordinal, amount.toFixed()],
  );

describe("verifyReceipt (rule CHAIN-2)", () => {
  test("a payment is told by the token's own transfer, in the token's unit and EIP-55 form", () => {
    const logs = [transfer({ amount: 2_500_000n }), event({ amount: 2_500_000n })];
    expect(verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain)).toEqual([
      {
        referenceHash: keccak256(reference),
        ordinal: 0,
        tokenAddress: toEip55(usdc),
        destinationAddress: owner,
        amount: expect.objectContaining({}),
      },
    ]);
    expect(verify(...logs)).toEqual([[0, "2.5"]]);
    const one18 = { token: usd18, amount: 1n };
    expect(verify(transfer(one18), event(one18))).toEqual([[0, "0.000000000000000001"]]);
  });

  test("an amount of 78 digits is exact", () => {
    const amount = 2n ** 256n - 1n;
    expect(verify(transfer({ amount }), event({ amount }))).toEqual([
      [0, `${amount / 10n ** 6n}.${amount % 10n ** 6n}`],
    ]);
  });

  test.each([
    [
      "a failed receipt",
      () =>
        verifyReceipt(
          pairReceipt({ isSuccessful: false, logs: [transfer(), event()] }, chain),
          chain,
        ),
    ],
    ["an event without a transfer", () => verify(event())],
    ["an event of another contract", () => verify(transfer(), event({ from: addressOf("9") }))],
    [
      "a token outside the catalogue",
      () => {
        const token = addressOf("7");
        return verify(transfer({ token }), event({ token }));
      },
    ],
    ["a transfer to somebody else", () => verify(transfer({ to: payer }), event())],
    ["a transfer of another token", () => verify(transfer({ token: usd18 }), event())],
    ["a transfer that comes after the event", () => verify(event(), transfer())],
    ["0 moved", () => verify(transfer({ amount: 0n }), event({ amount: 0n }))],
    ["0 of the chain's coin", () => verify(coinEvent(0n))],
    ["a coin's event of another contract", () => verify(coinEvent(1n, addressOf("9")))],
    ["a coin's event out of the token's proxy", () => verify(coinEvent(1n, proxy))],
    ["data cut short", () => verify(transfer(), { ...event(), data: pad("0x01", { size: 128 }) })],
    ["no data", () => verify(transfer(), { ...event(), data: "0x" })],
    ["a word too many", () => verify(transfer(), { ...event(), data: `${event().data}${word}` })],
    [
      "a topic too many",
      () => verify(transfer(), { ...event(), topics: [...event().topics, `0x${word}`] }),
    ],
    [
      "a transfer of an event with more data",
      () => verify({ ...transfer(), data: `${transfer().data}${word}` }, event()),
    ],
    [
      "a transfer of an event with a third indexed field",
      () => verify({ ...transfer(), topics: [...transfer().topics, `0x${word}`] }, event()),
    ],
    ["another event of the proxy", () => verify(transfer(), { ...transfer(), address: proxy })],
  ])("%s is no payment", (_what, verified) => {
    expect(verified()).toEqual([]);
  });

  test("a token that takes a fee counts for what arrived", () => {
    const fee = transfer({ to: addressOf("8"), amount: 1n });
    expect(verify(transfer({ amount: 99n }), fee, event({ amount: 100n }))).toEqual([
      [0, "0.000099"],
    ]);
  });

  test("two payments of one transaction use one transfer each", () => {
    const logs = [
      transfer({ amount: 1n }),
      event({ amount: 1n }),
      transfer({ amount: 2n }),
      event({ amount: 2n }),
    ];
    expect(verify(...logs)).toEqual([
      [0, "0.000001"],
      [1, "0.000002"],
    ]);
    expect(verify(transfer(), event(), event())).toEqual([[0, "0.0001"]]);
  });

  test("a payment's number counts those of its reference alone, wherever the logs stand (rule CHAIN-3)", () => {
    const other = event({ reference: "0xffeeddccbbaa99887766554433221100" });
    const noise = { ...transfer(), address: addressOf("9") };
    const logs = [noise, transfer(), other, transfer(), event(), noise, transfer(), event()];
    const named = verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain).map(
      ({ ordinal, referenceHash }) => [referenceHash === keccak256(reference), ordinal],
    );
    expect(named).toEqual([
      [false, 0],
      [true, 0],
      [true, 1],
    ]);
  });

  test("a plain transfer in the same transaction does not stand for the payment", () => {
    expect(verify(transfer({ amount: 7n }), transfer(), event())).toEqual([[0, "0.0001"]]);
    expect(verify(transfer(), transfer({ amount: 7n }), event())).toEqual([[0, "0.0001"]]);
  });

  test("the chain's own coin is told by its proxy, which makes the call", () => {
    expect(verify(coinEvent(10n ** 18n))).toEqual([[0, "1"]]);
    const withoutCoin = { ...chain, nativeToken: undefined };
    expect(
      verifyReceipt(
        pairReceipt({ isSuccessful: true, logs: [coinEvent(1n)] }, withoutCoin),
        withoutCoin,
      ),
    ).toEqual([]);
  });
});

describe("transfers that no event has used (rule CHAIN-20)", () => {
  const isOwner = (address: string) => address === toEip55(owner);
  const deposits = (...logs: EventLog[]) =>
    verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain, isOwner).flatMap((one) =>
      one.payer === undefined ? [] : { ...one, amount: one.amount.toFixed() },
    );

  test("are deposits of whoever owns the address, numbered by token and owner", () => {
    const found = deposits(
      transfer({ amount: 7n }),
      transfer({ to: addressOf("7") }),
      transfer({ amount: 8n }),
      transfer({ token: usd18, amount: 9n }),
    );
    expect(found.map(({ ordinal, amount }) => [ordinal, amount])).toEqual([
      [0, "0.000007"],
      [1, "0.000008"],
      [0, "0.000000000000000009"],
    ]);
    expect(found[0]).toMatchObject({
      payer: toEip55(payer),
      destinationAddress: toEip55(owner),
      referenceHash: `deposit:${toEip55(usdc)}:${toEip55(owner)}`,
    });
  });

  test("stay deposits beside a payment, which uses one", () => {
    const found = deposits(transfer({ amount: 3n }), transfer(), event());
    expect(found.map(({ amount }) => amount)).toEqual(["0.000003"]);
  });

  test("are none of nothing, of a strange token, from the owner itself, or of a failed transaction", () => {
    const own: EventLog = {
      ...transfer(),
      topics: encodeEventTopics({
        abi,
        eventName: "Transfer",
        args: { from: owner, to: owner },
      }) as Hex[],
    };
    expect(deposits(transfer({ amount: 0n }), transfer({ token: addressOf("8") }), own)).toEqual(
      [],
    );
    const failed = { isSuccessful: false, logs: [transfer()] };
    expect(verifyReceipt(pairReceipt(failed, chain), chain, isOwner)).toEqual([]);
  });
});
