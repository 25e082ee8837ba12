import { describe, expect, test } from "@jest/globals";
import {
  type Hex,
  type Address,
  concat,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  keccak256,
  parseAbi,
  slice,
} from "viem";
import { toEip55 } from "../address.ts";
import { type CatalogueToken, loadCatalogue } from "@payment-links/contracts";
import type { EventLog } from "./decode-event.ts";
import { decodeSuffixedTransfer } from "./transfer-suffix.ts";
import { type PayableChain, mayHaveSuffix, pairReceipt, verifyReceipt } from "./verify-receipt.ts";

// An independent library encodes these from the contracts' signatures.
const proxyAbi = parseAbi([
  "event TransferWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
]);
const repeatAddress = (digit: string): Address => `0x${digit.repeat(40)}`;
const [proxy, usdc, plainToken, unlistedToken, payer, otherAccount] = [
  "1",
  "3",
  "4",
  "7",
  "6",
  "8",
].map(repeatAddress) as [Address, Address, Address, Address, Address, Address];
const owner: Address = "0xabcdefabcdefabcdefabcdefabcdefabcdefabcd";
const zeroAddress: Hex = "0x0000000000000000000000000000000000000000";
const reference: Hex = "0x00112233445566778899aabbccddeeff";
const otherReference: Hex = "0xffeeddccbbaa99887766554433221100";

const findSeedToken = (id: string): CatalogueToken => {
  const token = loadCatalogue().findToken(id);
  if (token === undefined) throw new Error(`the catalogue has no ${id}`);
  return token;
};
const { takesSuffix: _proof, ...tokenWithoutSuffix } = findSeedToken("usdc-base");
const chain: PayableChain = {
  proxies: { erc20: proxy, ethereum: null },
  tokens: new Map<string, CatalogueToken>([
    [usdc, { ...findSeedToken("usdc-base"), address: toEip55(usdc) }],
    [plainToken, { ...tokenWithoutSuffix, address: toEip55(plainToken) }],
  ]),
  nativeToken: undefined,
  formatAddress: (address) => address,
};

const transferData = (to: Address = owner, amount = 100n): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
const encodeSuffixTransfer = (
  overrides: { to?: Address; amount?: bigint; reference?: Hex } = {},
): Hex => concat([transferData(overrides.to, overrides.amount), overrides.reference ?? reference]);

const transfer = (
  overrides: { token?: Hex; from?: Address; to?: Address; amount?: bigint } = {},
): EventLog => ({
  address: overrides.token ?? usdc,
  topics: encodeEventTopics({
    abi: erc20Abi,
    eventName: "Transfer",
    args: { from: overrides.from ?? payer, to: overrides.to ?? owner },
  }) as Hex[],
  data: encodeAbiParameters([{ type: "uint256" }], [overrides.amount ?? 100n]),
});
const proxyEvent = (paymentReference: Hex): EventLog => ({
  address: proxy,
  topics: encodeEventTopics({ abi: proxyAbi, args: { paymentReference } }) as Hex[],
  data: encodeAbiParameters(
    ["address", "address", "uint256", "uint256", "address"].map((type) => ({ type })),
    [usdc, owner, 100n, 0n, zeroAddress],
  ),
});

type SentCall = { to?: Hex | null; input?: Hex; from?: Address };

const listProofs = (
  { to = usdc, input = encodeSuffixTransfer(), from = payer }: SentCall,
  ...logs: EventLog[]
) =>
  verifyReceipt(
    pairReceipt({ isSuccessful: true, logs }, chain),
    chain,
    (address) => address === getAddress(owner),
    {
      to,
      input,
      from,
    },
  ).map(({ amount, isDeposit, ordinal, referenceHash }) =>
    isDeposit !== true
      ? `payment ${referenceHash === keccak256(reference) ? "named" : "other"} ${ordinal} ${amount.toFixed()}`
      : `deposit ${ordinal} ${amount.toFixed()}`,
  );

describe("a transfer with a reference after its calldata arguments (rule CHAIN-22)", () => {
  test("is a payment of the amount in the token's own event", () => {
    expect(listProofs({}, transfer())).toEqual(["payment named 0 0.0001"]);
    expect(listProofs({}, transfer({ amount: 99n }))).toEqual(["payment named 0 0.000099"]);
    const [payment] = verifyReceipt(
      pairReceipt({ isSuccessful: true, logs: [transfer()] }, chain),
      chain,
      undefined,
      {
        to: usdc,
        input: encodeSuffixTransfer(),
        from: payer,
      },
    );
    expect(payment).toEqual({
      referenceHash: keccak256(reference),
      ordinal: 0,
      tokenAddress: toEip55(usdc),
      destinationAddress: getAddress(owner),
      amount: expect.anything(),
      payer: getAddress(payer),
    });
  });

  test("is a payment to any destination, because the link decides whether that is correct", () => {
    const sentCall = { input: encodeSuffixTransfer({ to: otherAccount }) };
    expect(listProofs(sentCall, transfer({ to: otherAccount }))).toEqual([
      "payment named 0 0.0001",
    ]);
  });

  test("uses one transfer, and the others stay deposits", () => {
    expect(listProofs({}, transfer({ amount: 7n }), transfer(), transfer({ amount: 8n }))).toEqual([
      "payment named 0 0.0001",
      "deposit 0 0.000007",
      "deposit 1 0.000008",
    ]);
  });

  // Guards against crediting the same transfer twice, no matter which other logs a transaction has.
  test("is credited once if a proxy's event already used its transfer", () => {
    expect(listProofs({}, transfer(), proxyEvent(reference))).toEqual(["payment named 0 0.0001"]);
    expect(listProofs({}, transfer(), proxyEvent(otherReference))).toEqual([
      "payment other 0 0.0001",
    ]);
    expect(listProofs({}, transfer(), proxyEvent(otherReference), transfer())).toEqual([
      "payment other 0 0.0001",
      "payment named 0 0.0001",
    ]);
    expect(listProofs({}, transfer(), proxyEvent(reference), transfer())).toEqual([
      "payment named 0 0.0001",
      "payment named 1 0.0001",
    ]);
  });

  test.each<[string, SentCall, EventLog]>([
    ["has no suffix", { input: transferData() }, transfer()],
    ["is one byte short", { input: slice(encodeSuffixTransfer(), 0, -1) }, transfer()],
    ["is one byte too long", { input: concat([encodeSuffixTransfer(), "0x00"]) }, transfer()],
    [
      "calls another function with the same arguments",
      { input: concat(["0x095ea7b3", slice(encodeSuffixTransfer(), 4)]) },
      transfer(),
    ],
    [
      "has an address of more than 20 bytes",
      {
        input: concat([
          slice(encodeSuffixTransfer(), 0, 4),
          "0x01",
          slice(encodeSuffixTransfer(), 5),
        ]),
      },
      transfer(),
    ],
    ["calls another contract", { to: unlistedToken }, transfer()],
    ["creates a contract", { to: null }, transfer()],
    [
      "has another destination than the transfer",
      { input: encodeSuffixTransfer({ to: otherAccount }) },
      transfer(),
    ],
    ["moves another account's tokens", { from: otherAccount }, transfer()],
    ["is for a token without suffix support", { to: plainToken }, transfer({ token: plainToken })],
  ])("is a deposit if its calldata %s", (_what, sentCall, log) => {
    expect(listProofs(sentCall, log)).toEqual(["deposit 0 0.0001"]);
  });

  test.each<[string, SentCall, EventLog[]]>([
    ["without the token's own event", {}, []],
    [
      "with an amount of 0",
      { input: encodeSuffixTransfer({ amount: 0n }) },
      [transfer({ amount: 0n })],
    ],
    [
      "from the owner to itself",
      { input: encodeSuffixTransfer(), from: owner },
      [transfer({ from: owner })],
    ],
    [
      "for a token outside the catalogue",
      { to: unlistedToken },
      [transfer({ token: unlistedToken })],
    ],
  ])("proves nothing %s", (_what, sentCall, logs) => {
    expect(listProofs(sentCall, ...logs)).toEqual([]);
  });

  test("proves nothing if the transaction failed", () => {
    const sentCall = { to: usdc, input: encodeSuffixTransfer(), from: payer };
    const failedReceipt = { isSuccessful: false, logs: [transfer()] };
    expect(verifyReceipt(pairReceipt(failedReceipt, chain), chain, () => true, sentCall)).toEqual(
      [],
    );
  });
});

// The test vectors of schemas 0, 1 and 2 are from `ox`, the library that wallets use for ERC-8021.
const marker = "80218021802180218021802180218021";
const withMarker = (prefix: string): Hex => `0x${prefix}${marker}`;
const codes = withMarker("626173656170702c6d6f7270686f0e00");
const ownRegistry = withMarker(
  "cccccccccccccccccccccccccccccccccccccccc210502626173656170702c6d6f7270686f0e01",
);
const cbor = withMarker("a161616762617365617070000b02");

describe("an attribution after the payment reference (rule CHAIN-25)", () => {
  test.each<[string, Hex[]]>([
    ["with codes of the canonical registry", [codes]],
    ["with codes of its own registry", [ownRegistry]],
    ["in CBOR", [cbor]],
    ["in the longest CBOR", [`0x${"61".repeat(0xff_ff)}`, withMarker("ffff02")]],
    ["without any code", [withMarker("0000")]],
    ["by the app, the wallet and a relayer", [codes, ownRegistry, cbor]],
    ["repeated up to the limit", Array.from({ length: 16 }, () => codes)],
  ])("does not change the payment %s", (_what, attributions) => {
    const input = concat([encodeSuffixTransfer(), ...attributions]);
    expect(listProofs({ input }, transfer())).toEqual(["payment named 0 0.0001"]);
  });

  test.each<[string, Hex]>([
    ["follows a transfer without a reference", concat([transferData(), codes])],
    ["overlaps the reference", concat([encodeSuffixTransfer(), withMarker("0100")])],
    ["overlaps the arguments", concat([encodeSuffixTransfer(), withMarker("ff00")])],
    ["starts before the calldata", concat([encodeSuffixTransfer(), withMarker("ffff02")])],
    [
      "has a registry that starts before the calldata",
      concat([encodeSuffixTransfer(), withMarker("ff0001")]),
    ],
    [
      "has a registry without a chain id",
      concat([encodeSuffixTransfer(), slice(ownRegistry, 0, 20), withMarker("0001")]),
    ],
    ["has an unknown schema", concat([encodeSuffixTransfer(), withMarker("0003")])],
    ["is truncated", concat([encodeSuffixTransfer(), slice(codes, 0, -1)])],
    ["is only a marker", concat([encodeSuffixTransfer(), withMarker("")])],
    ["follows other bytes", concat([encodeSuffixTransfer(), "0x00", codes])],
    [
      "is one of too many",
      concat([encodeSuffixTransfer(), ...Array.from({ length: 17 }, () => codes)]),
    ],
    [
      "is one of 10,000",
      concat([encodeSuffixTransfer(), ...Array.from({ length: 10_000 }, () => codes)]),
    ],
  ])("makes the transfer a deposit if it %s", (_what, input) => {
    expect(listProofs({ input }, transfer())).toEqual(["deposit 0 0.0001"]);
  });
});

describe("mayHaveSuffix", () => {
  const needsCalldata = (...logs: EventLog[]) =>
    mayHaveSuffix(pairReceipt({ isSuccessful: true, logs }, chain), payer, chain);

  test("returns true if the events leave a transfer from the sender unused", () => {
    expect(needsCalldata(transfer())).toBe(true);
    expect(needsCalldata(transfer(), proxyEvent(reference), transfer({ to: otherAccount }))).toBe(
      true,
    );
  });

  // Guards the speed of catching up: payments through the proxy must not need another request.
  test("returns false for every other receipt", () => {
    expect(needsCalldata(transfer(), proxyEvent(reference))).toBe(false);
    expect(needsCalldata(transfer({ from: otherAccount }))).toBe(false);
    expect(needsCalldata(transfer({ token: plainToken }))).toBe(false);
    expect(needsCalldata(transfer({ amount: 0n }))).toBe(false);
    const failedReceipt = { isSuccessful: false, logs: [transfer()], from: payer };
    expect(mayHaveSuffix(pairReceipt(failedReceipt, chain), payer, chain)).toBe(false);
  });
});

test("decodeSuffixedTransfer reads every byte of the amount and the reference", () => {
  const amount = 2n ** 256n - 1n;
  expect(
    decodeSuffixedTransfer({
      to: usdc,
      input: encodeSuffixTransfer({ amount, reference: otherReference }),
    }),
  ).toEqual({
    token: usdc,
    destination: getAddress(owner),
    amount,
    referenceHash: keccak256(otherReference),
  });
});
