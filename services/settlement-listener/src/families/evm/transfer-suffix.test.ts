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
import { type CatalogueToken, openCatalogue, toEip55 } from "@payment-links/contracts";
import type { EventLog } from "./decode-event.ts";
import { readSuffix } from "./transfer-suffix.ts";
import { type PayableChain, mayHaveSuffix, pairReceipt, verifyReceipt } from "./verify-receipt.ts";

// Encoded by a library that is not ours, from the contracts' own signatures.
const proxyAbi = parseAbi([
  "event TransferWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes indexed paymentReference, uint256 feeAmount, address feeAddress)",
]);
const addressOf = (digit: string): Address => `0x${digit.repeat(40)}`;
const [proxy, usdc, plain, strange, payer, stranger] = ["1", "3", "4", "7", "6", "8"].map(
  addressOf,
) as [Address, Address, Address, Address, Address, Address];
const owner: Address = "0xabcdefabcdefabcdefabcdefabcdefabcdefabcd";
const nobody: Hex = "0x0000000000000000000000000000000000000000";
const reference: Hex = "0x00112233445566778899aabbccddeeff";
const another: Hex = "0xffeeddccbbaa99887766554433221100";

const seeded = (id: string): CatalogueToken => {
  const token = openCatalogue().findToken(id);
  if (token === undefined) throw new Error(`the catalogue has no ${id}`);
  return token;
};
const { takesSuffix: _proof, ...unproved } = seeded("usdc-base");
const chain: PayableChain = {
  proxies: { erc20: proxy, ethereum: null },
  tokens: new Map<string, CatalogueToken>([
    [usdc, { ...seeded("usdc-base"), address: toEip55(usdc) }],
    [plain, { ...unproved, address: toEip55(plain) }],
  ]),
  nativeToken: undefined,
  showAddress: (shown) => shown,
};

const transferData = (to: Address = owner, amount = 100n): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
const naming = (more: { to?: Address; amount?: bigint; reference?: Hex } = {}): Hex =>
  concat([transferData(more.to, more.amount), more.reference ?? reference]);

const transfer = (
  more: { token?: Hex; from?: Address; to?: Address; amount?: bigint } = {},
): EventLog => ({
  address: more.token ?? usdc,
  topics: encodeEventTopics({
    abi: erc20Abi,
    eventName: "Transfer",
    args: { from: more.from ?? payer, to: more.to ?? owner },
  }) as Hex[],
  data: encodeAbiParameters([{ type: "uint256" }], [more.amount ?? 100n]),
});
const proxyEvent = (paymentReference: Hex): EventLog => ({
  address: proxy,
  topics: encodeEventTopics({ abi: proxyAbi, args: { paymentReference } }) as Hex[],
  data: encodeAbiParameters(
    ["address", "address", "uint256", "uint256", "address"].map((type) => ({ type })),
    [usdc, owner, 100n, 0n, nobody],
  ),
});

type Sent = { to?: Hex | null; input?: Hex; from?: Address };

const proofsOf = ({ to = usdc, input = naming(), from = payer }: Sent, ...logs: EventLog[]) =>
  verifyReceipt(
    pairReceipt({ isSuccessful: true, logs }, chain),
    chain,
    (one) => one === getAddress(owner),
    {
      to,
      input,
      from,
    },
  ).map(({ amount, ordinal, payer: sentBy, referenceHash }) =>
    sentBy === undefined
      ? `payment ${referenceHash === keccak256(reference) ? "named" : "other"} ${ordinal} ${amount.toFixed()}`
      : `deposit ${ordinal} ${amount.toFixed()}`,
  );

describe("a transfer whose calldata names a link behind its arguments (rule CHAIN-22)", () => {
  test("is a payment of that link, of what the token says that arrived", () => {
    expect(proofsOf({}, transfer())).toEqual(["payment named 0 0.0001"]);
    expect(proofsOf({}, transfer({ amount: 99n }))).toEqual(["payment named 0 0.000099"]);
    const [payment] = verifyReceipt(
      pairReceipt({ isSuccessful: true, logs: [transfer()] }, chain),
      chain,
      undefined,
      {
        to: usdc,
        input: naming(),
        from: payer,
      },
    );
    expect(payment).toEqual({
      referenceHash: keccak256(reference),
      ordinal: 0,
      tokenAddress: toEip55(usdc),
      destinationAddress: getAddress(owner),
      amount: expect.anything(),
    });
  });

  test("is one whoever is paid: the link that is named says whether that is right", () => {
    const sent = { input: naming({ to: stranger }) };
    expect(proofsOf(sent, transfer({ to: stranger }))).toEqual(["payment named 0 0.0001"]);
  });

  test("takes one transfer, and leaves the others deposits", () => {
    expect(proofsOf({}, transfer({ amount: 7n }), transfer(), transfer({ amount: 8n }))).toEqual([
      "payment named 0 0.0001",
      "deposit 0 0.000007",
      "deposit 1 0.000008",
    ]);
  });

  // Guards money: what moved once is credited once, whatever a token does beside it.
  test("is credited once where a proxy's event has told of it already", () => {
    expect(proofsOf({}, transfer(), proxyEvent(reference))).toEqual(["payment named 0 0.0001"]);
    expect(proofsOf({}, transfer(), proxyEvent(another))).toEqual(["payment other 0 0.0001"]);
    expect(proofsOf({}, transfer(), proxyEvent(another), transfer())).toEqual([
      "payment other 0 0.0001",
      "payment named 0 0.0001",
    ]);
    expect(proofsOf({}, transfer(), proxyEvent(reference), transfer())).toEqual([
      "payment named 0 0.0001",
      "payment named 1 0.0001",
    ]);
  });

  test.each<[string, Sent, EventLog]>([
    ["has no suffix", { input: transferData() }, transfer()],
    ["has a byte less", { input: slice(naming(), 0, -1) }, transfer()],
    ["has a byte more", { input: concat([naming(), "0x00"]) }, transfer()],
    [
      "is of another function of the same form",
      { input: concat(["0x095ea7b3", slice(naming(), 4)]) },
      transfer(),
    ],
    [
      "has an address of more than 20 bytes",
      { input: concat([slice(naming(), 0, 4), "0x01", slice(naming(), 5)]) },
      transfer(),
    ],
    ["is sent to another contract", { to: strange }, transfer()],
    ["makes a contract", { to: null }, transfer()],
    ["is of another destination", { input: naming({ to: stranger }) }, transfer()],
    ["moves somebody else's money", { from: stranger }, transfer()],
    ["is of a token whose calldata nobody has read", { to: plain }, transfer({ token: plain })],
  ])("that %s is a deposit like any other", (_what, sent, log) => {
    expect(proofsOf(sent, log)).toEqual(["deposit 0 0.0001"]);
  });

  test.each<[string, Sent, EventLog[]]>([
    ["without the token's own word", {}, []],
    ["of 0", { input: naming({ amount: 0n }) }, [transfer({ amount: 0n })]],
    ["of whoever is paid", { input: naming(), from: owner }, [transfer({ from: owner })]],
    ["of a token outside the catalogue", { to: strange }, [transfer({ token: strange })]],
  ])("%s is nothing", (_what, sent, logs) => {
    expect(proofsOf(sent, ...logs)).toEqual([]);
  });

  test("is nothing where the transaction failed", () => {
    const sent = { to: usdc, input: naming(), from: payer };
    const failed = { isSuccessful: false, logs: [transfer()] };
    expect(verifyReceipt(pairReceipt(failed, chain), chain, () => true, sent)).toEqual([]);
  });
});

// The vectors of schemas 0, 1 and 2 are those of ox, the library that wallets use for ERC-8021.
const marker = "80218021802180218021802180218021";
const ofMarker = (more: string): Hex => `0x${more}${marker}`;
const codes = ofMarker("626173656170702c6d6f7270686f0e00");
const ownRegistry = ofMarker(
  "cccccccccccccccccccccccccccccccccccccccc210502626173656170702c6d6f7270686f0e01",
);
const cbor = ofMarker("a161616762617365617070000b02");

describe("an attribution behind the payment reference (rule CHAIN-25)", () => {
  test.each<[string, Hex[]]>([
    ["with codes of the canonical registry", [codes]],
    ["with codes of its own registry", [ownRegistry]],
    ["in CBOR", [cbor]],
    ["in the longest CBOR", [`0x${"61".repeat(0xff_ff)}`, ofMarker("ffff02")]],
    ["without any code", [ofMarker("0000")]],
    ["by the app, the wallet and a relayer", [codes, ownRegistry, cbor]],
    ["by as many as are read", Array.from({ length: 16 }, () => codes)],
  ])("%s leaves the payment with its link", (_what, attributions) => {
    const input = concat([naming(), ...attributions]);
    expect(proofsOf({ input }, transfer())).toEqual(["payment named 0 0.0001"]);
  });

  test.each<[string, Hex]>([
    ["stands behind a transfer without a reference", concat([transferData(), codes])],
    ["reaches into the reference", concat([naming(), ofMarker("0100")])],
    ["reaches into the arguments", concat([naming(), ofMarker("ff00")])],
    ["reaches past the beginning", concat([naming(), ofMarker("ffff02")])],
    ["names a registry that begins before the data", concat([naming(), ofMarker("ff0001")])],
    [
      "has no chain of its registry",
      concat([naming(), slice(ownRegistry, 0, 20), ofMarker("0001")]),
    ],
    ["has an unknown schema", concat([naming(), ofMarker("0003")])],
    ["is cut off", concat([naming(), slice(codes, 0, -1)])],
    ["is a marker alone", concat([naming(), ofMarker("")])],
    ["stands behind other bytes", concat([naming(), "0x00", codes])],
    ["is one of too many", concat([naming(), ...Array.from({ length: 17 }, () => codes)])],
    ["is one of ten thousand", concat([naming(), ...Array.from({ length: 10_000 }, () => codes)])],
  ])("that %s leaves a deposit", (_what, input) => {
    expect(proofsOf({ input }, transfer())).toEqual(["deposit 0 0.0001"]);
  });
});

describe("calldata is asked for", () => {
  const asked = (...logs: EventLog[]) =>
    mayHaveSuffix(pairReceipt({ isSuccessful: true, logs }, chain), payer, chain);

  test("where a transfer of the sender's is left by the events", () => {
    expect(asked(transfer())).toBe(true);
    expect(asked(transfer(), proxyEvent(reference), transfer({ to: stranger }))).toBe(true);
  });

  // Guards the speed of a catch-up: payments through the proxy cost no further question.
  test("nowhere else", () => {
    expect(asked(transfer(), proxyEvent(reference))).toBe(false);
    expect(asked(transfer({ from: stranger }))).toBe(false);
    expect(asked(transfer({ token: plain }))).toBe(false);
    expect(asked(transfer({ amount: 0n }))).toBe(false);
    const failed = { isSuccessful: false, logs: [transfer()], from: payer };
    expect(mayHaveSuffix(pairReceipt(failed, chain), payer, chain)).toBe(false);
  });
});

test("a suffix is read to the last byte", () => {
  const amount = 2n ** 256n - 1n;
  expect(readSuffix({ to: usdc, input: naming({ amount, reference: another }) })).toEqual({
    token: usdc,
    destination: getAddress(owner),
    amount,
    referenceHash: keccak256(another),
  });
});
