import { describe, expect, test } from "@jest/globals";
import { type Hex, encodeAbiParameters, encodeEventTopics, keccak256, pad, parseAbi } from "viem";
import { toEip55 } from "../address.ts";
import { type CatalogueToken, loadCatalogue } from "@payment-links/contracts";
import type { EventLog } from "./decode-event.ts";
import { type PayableChain, pairReceipt, verifyReceipt } from "./verify-receipt.ts";

// An independent library encodes these from the contracts' signatures.
const abi = parseAbi([
  "event TransferWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const nativeAbi = parseAbi([
  "event TransferWithReferenceAndFee(address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
]);

const repeatAddress = (digit: string): Hex => `0x${digit.repeat(40)}`;
const proxy = repeatAddress("1");
const ethereumProxy = repeatAddress("2");
const usdc = repeatAddress("3");
const usd18 = repeatAddress("4");
const owner = repeatAddress("5");
const payer = repeatAddress("6");
const zeroAddress: Hex = "0x0000000000000000000000000000000000000000";
const reference: Hex = "0x00112233445566778899aabbccddeeff";
const [uint, address] = [{ type: "uint256" } as const, { type: "address" } as const];

const sampleToken = (overrides: Partial<CatalogueToken>): CatalogueToken => {
  const token = loadCatalogue().findToken("usdc-base");
  if (token === undefined) throw new Error("the catalogue has no USDC on Base");
  return { ...token, ...overrides };
};

const chain: PayableChain = {
  proxies: { erc20: proxy, ethereum: ethereumProxy },
  tokens: new Map([
    [usdc, sampleToken({ address: toEip55(usdc), decimals: 6 })],
    [usd18, sampleToken({ address: toEip55(usd18), decimals: 18 })],
  ]),
  nativeToken: sampleToken({ address: toEip55(repeatAddress("e")), decimals: 18, isNative: true }),
  formatAddress: (eip55) => eip55,
};

const proxyEvent = (
  overrides: { from?: Hex; token?: Hex; to?: Hex; amount?: bigint; reference?: Hex } = {},
): EventLog => ({
  address: overrides.from ?? proxy,
  topics: encodeEventTopics({
    abi,
    eventName: "TransferWithReferenceAndFee",
    args: { paymentReference: overrides.reference ?? reference },
  }) as Hex[],
  data: encodeAbiParameters(
    [address, address, uint, uint, address],
    [overrides.token ?? usdc, overrides.to ?? owner, overrides.amount ?? 100n, 0n, zeroAddress],
  ),
});

const transfer = (overrides: { token?: Hex; to?: Hex; amount?: bigint } = {}): EventLog => ({
  address: overrides.token ?? usdc,
  topics: encodeEventTopics({
    abi,
    eventName: "Transfer",
    args: { from: payer, to: overrides.to ?? owner },
  }) as Hex[],
  data: encodeAbiParameters([uint], [overrides.amount ?? 100n]),
});

const nativeEvent = (amount: bigint, from = ethereumProxy): EventLog => ({
  address: from,
  topics: encodeEventTopics({ abi: nativeAbi, args: { paymentReference: reference } }) as Hex[],
  data: encodeAbiParameters([address, uint, uint, address], [owner, amount, 0n, zeroAddress]),
});

const word = "00".repeat(32);

const verify = (...logs: EventLog[]) =>
  verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain).map(
    ({ ordinal, amount }) => [ordinal, amount.toFixed()],
  );

describe("verifyReceipt (rule CHAIN-2)", () => {
  test("proves a payment by the token's own transfer, in the token's unit and with EIP-55 addresses", () => {
    const logs = [transfer({ amount: 2_500_000n }), proxyEvent({ amount: 2_500_000n })];
    expect(verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain)).toEqual([
      {
        referenceHash: keccak256(reference),
        ordinal: 0,
        tokenAddress: toEip55(usdc),
        destinationAddress: owner,
        amount: expect.objectContaining({}),
        payer: toEip55(payer),
      },
    ]);
    expect(verify(...logs)).toEqual([[0, "2.5"]]);
    const one18 = { token: usd18, amount: 1n };
    expect(verify(transfer(one18), proxyEvent(one18))).toEqual([[0, "0.000000000000000001"]]);
  });

  test("returns an amount of 78 digits exactly", () => {
    const amount = 2n ** 256n - 1n;
    expect(verify(transfer({ amount }), proxyEvent({ amount }))).toEqual([
      [0, `${amount / 10n ** 6n}.${amount % 10n ** 6n}`],
    ]);
  });

  test.each([
    [
      "a failed receipt",
      () =>
        verifyReceipt(
          pairReceipt({ isSuccessful: false, logs: [transfer(), proxyEvent()] }, chain),
          chain,
        ),
    ],
    ["an event without a transfer", () => verify(proxyEvent())],
    [
      "an event of another contract",
      () => verify(transfer(), proxyEvent({ from: repeatAddress("9") })),
    ],
    [
      "a payment in a token outside the catalogue",
      () => {
        const token = repeatAddress("7");
        return verify(transfer({ token }), proxyEvent({ token }));
      },
    ],
    ["a transfer to another address", () => verify(transfer({ to: payer }), proxyEvent())],
    ["a transfer of another token", () => verify(transfer({ token: usd18 }), proxyEvent())],
    ["a transfer that comes after the event", () => verify(proxyEvent(), transfer())],
    ["a transfer of 0", () => verify(transfer({ amount: 0n }), proxyEvent({ amount: 0n }))],
    ["an event for 0 of the chain's coin", () => verify(nativeEvent(0n))],
    ["a coin's event of another contract", () => verify(nativeEvent(1n, repeatAddress("9")))],
    ["a coin's event from the token proxy", () => verify(nativeEvent(1n, proxy))],
    [
      "an event with truncated data",
      () => verify(transfer(), { ...proxyEvent(), data: pad("0x01", { size: 128 }) }),
    ],
    ["an event without data", () => verify(transfer(), { ...proxyEvent(), data: "0x" })],
    [
      "an event with an extra word of data",
      () => verify(transfer(), { ...proxyEvent(), data: `${proxyEvent().data}${word}` }),
    ],
    [
      "an event with an extra topic",
      () => verify(transfer(), { ...proxyEvent(), topics: [...proxyEvent().topics, `0x${word}`] }),
    ],
    [
      "a transfer event with extra data",
      () => verify({ ...transfer(), data: `${transfer().data}${word}` }, proxyEvent()),
    ],
    [
      "a transfer event with a third indexed field",
      () => verify({ ...transfer(), topics: [...transfer().topics, `0x${word}`] }, proxyEvent()),
    ],
    ["another event of the proxy", () => verify(transfer(), { ...transfer(), address: proxy })],
  ])("finds no payment in %s", (_what, verifyCase) => {
    expect(verifyCase()).toEqual([]);
  });

  test("uses the received amount of a token that takes a fee", () => {
    const feeTransfer = transfer({ to: repeatAddress("8"), amount: 1n });
    expect(verify(transfer({ amount: 99n }), feeTransfer, proxyEvent({ amount: 100n }))).toEqual([
      [0, "0.000099"],
    ]);
  });

  test("uses one transfer for each payment of a transaction", () => {
    const logs = [
      transfer({ amount: 1n }),
      proxyEvent({ amount: 1n }),
      transfer({ amount: 2n }),
      proxyEvent({ amount: 2n }),
    ];
    expect(verify(...logs)).toEqual([
      [0, "0.000001"],
      [1, "0.000002"],
    ]);
    expect(verify(transfer(), proxyEvent(), proxyEvent())).toEqual([[0, "0.0001"]]);
  });

  test("numbers payments per reference, wherever the logs are (rule CHAIN-3)", () => {
    const otherEvent = proxyEvent({ reference: "0xffeeddccbbaa99887766554433221100" });
    const noise = { ...transfer(), address: repeatAddress("9") };
    const logs = [
      noise,
      transfer(),
      otherEvent,
      transfer(),
      proxyEvent(),
      noise,
      transfer(),
      proxyEvent(),
    ];
    const payments = verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain).map(
      ({ ordinal, referenceHash }) => [referenceHash === keccak256(reference), ordinal],
    );
    expect(payments).toEqual([
      [false, 0],
      [true, 0],
      [true, 1],
    ]);
  });

  test("does not use a plain transfer of the same transaction for the payment", () => {
    expect(verify(transfer({ amount: 7n }), transfer(), proxyEvent())).toEqual([[0, "0.0001"]]);
    expect(verify(transfer(), transfer({ amount: 7n }), proxyEvent())).toEqual([[0, "0.0001"]]);
  });

  test("proves a payment in the chain's coin by the proxy's event alone", () => {
    expect(verify(nativeEvent(10n ** 18n))).toEqual([[0, "1"]]);
    const coinReceipt = pairReceipt({ isSuccessful: true, logs: [nativeEvent(1n)] }, chain);
    expect(verifyReceipt(coinReceipt, chain)[0]).not.toHaveProperty("payer");
    const withoutCoin = { ...chain, nativeToken: undefined };
    expect(
      verifyReceipt(
        pairReceipt({ isSuccessful: true, logs: [nativeEvent(1n)] }, withoutCoin),
        withoutCoin,
      ),
    ).toEqual([]);
  });
});

describe("transfers that no event uses (rule CHAIN-20)", () => {
  const isOwner = (address: string) => address === toEip55(owner);
  const listDeposits = (...logs: EventLog[]) =>
    verifyReceipt(pairReceipt({ isSuccessful: true, logs }, chain), chain, isOwner).flatMap(
      (proof) => (proof.isDeposit !== true ? [] : { ...proof, amount: proof.amount.toFixed() }),
    );

  test("are deposits of the owner of the address, numbered by token and owner", () => {
    const foundDeposits = listDeposits(
      transfer({ amount: 7n }),
      transfer({ to: repeatAddress("7") }),
      transfer({ amount: 8n }),
      transfer({ token: usd18, amount: 9n }),
    );
    expect(foundDeposits.map(({ ordinal, amount }) => [ordinal, amount])).toEqual([
      [0, "0.000007"],
      [1, "0.000008"],
      [0, "0.000000000000000009"],
    ]);
    expect(foundDeposits[0]).toMatchObject({
      payer: toEip55(payer),
      destinationAddress: toEip55(owner),
      referenceHash: `deposit:${toEip55(usdc)}:${toEip55(owner)}`,
    });
  });

  test("stay deposits next to a payment, which uses one transfer", () => {
    const foundDeposits = listDeposits(transfer({ amount: 3n }), transfer(), proxyEvent());
    expect(foundDeposits.map(({ amount }) => amount)).toEqual(["0.000003"]);
  });

  test("are no deposits if they are empty, of an unknown token, from the owner, or of a failed transaction", () => {
    const ownTransfer: EventLog = {
      ...transfer(),
      topics: encodeEventTopics({
        abi,
        eventName: "Transfer",
        args: { from: owner, to: owner },
      }) as Hex[],
    };
    expect(
      listDeposits(transfer({ amount: 0n }), transfer({ token: repeatAddress("8") }), ownTransfer),
    ).toEqual([]);
    const failedReceipt = { isSuccessful: false, logs: [transfer()] };
    expect(verifyReceipt(pairReceipt(failedReceipt, chain), chain, isOwner)).toEqual([]);
  });
});
