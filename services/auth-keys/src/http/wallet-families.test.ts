import { beforeAll, describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, bech32, bech32m, createBase58check } from "@scure/base";
import { type ChainType, createCatalogue, openCatalogue } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const path = "/console/api/wallets";

/** The catalogue with a token on every family; the seed has none on Bitcoin. */
const catalogueOfAll = () => {
  const { chains, tokens } = openCatalogue();
  const [sample] = tokens;
  if (sample === undefined) throw new Error("the catalogue is empty");
  const coin = (chainId: string) => ({ ...sample, id: `btc-${chainId}`, chainId, address: "coin" });
  const bitcoin = (id: string) =>
    ({ id, name: id, symbol: "BTC", chainType: "BVM", caip2: `bip122:${id}` }) as const;
  return createCatalogue({
    chains: [...chains, bitcoin("bitcoin"), bitcoin("bitcoin-testnet")],
    tokens: [
      ...tokens.map(({ chain, ...token }) => ({ ...token, chainId: chain.id })),
      coin("bitcoin"),
      coin("bitcoin-testnet"),
    ],
  });
};

const rig = useRig(() => openRig({ catalogue: catalogueOfAll() }));
let cookie: string;
let userId: string;
beforeAll(async () => {
  ({ cookie, userId } = await rig.signUp());
});

const base58check = createBase58check(sha256);
const filled = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const versioned = (version: number): string =>
  base58check.encode(Uint8Array.of(version, ...filled(20)));
const segwit = (coder: typeof bech32, prefix: string, version: number, length: number): string =>
  coder.encode(prefix, [version, ...bech32.toWords(filled(length))]);

type Place = "usdc-base" | "usdc-solana" | "usdt-tron" | "btc-bitcoin" | "btc-bitcoin-testnet";
const families: Record<Place, ChainType> = {
  "usdc-base": "EVM",
  "usdc-solana": "SVM",
  "usdt-tron": "TVM",
  "btc-bitcoin": "BVM",
  "btc-bitcoin-testnet": "BVM",
};
const places = Object.keys(families) as Place[];

/** One address of each form, and the one chain where it is right. */
const addresses: [form: string, right: Place, address: string][] = [
  ["EIP-55", "usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
  ["base58 of 32 bytes", "usdc-solana", base58.encode(filled(32))],
  ["base58check with Tron's prefix", "usdt-tron", versioned(0x41)],
  ["base58check of a public key", "btc-bitcoin", versioned(0x00)],
  ["base58check of a script", "btc-bitcoin", versioned(0x05)],
  ["bech32", "btc-bitcoin", segwit(bech32, "bc", 0, 20)],
  ["bech32 of a script", "btc-bitcoin", segwit(bech32, "bc", 0, 32)],
  ["bech32m, taproot", "btc-bitcoin", segwit(bech32m, "bc", 1, 32)],
  ["a test network's base58check", "btc-bitcoin-testnet", versioned(0x6f)],
  ["a test network's bech32", "btc-bitcoin-testnet", segwit(bech32, "tb", 0, 20)],
  ["a test network's bech32m", "btc-bitcoin-testnet", segwit(bech32m, "tb", 1, 32)],
];

const add = (walletAddress: unknown, tokenId: Place) =>
  rig.call("POST", path, { cookie, body: { walletAddress, tokenId } });

const stateOf = async () => ({
  wallets: (await rig.call("GET", path, { cookie })).body,
  events: (await rig.readEvents(userId)).length,
  deeds: (await rig.readAudit(userId)).length,
});

describe("an address", () => {
  const wrong = addresses.flatMap(([form, right, address]) =>
    places.filter((place) => place !== right).map((place) => [form, place, address] as const),
  );
  test.each(wrong)("in %s is no wallet for %s", async (_form, place, address) => {
    const before = await stateOf();
    expect(refusalOf(await add(address, place))).toBe("422 INVALID_WALLET_ADDRESS");
    expect(await stateOf()).toEqual(before);
  });

  test.each(addresses)("in %s is a wallet for %s", async (_form, right, address) => {
    const answer = await add(address, right);
    expect(refusalOf(answer)).toBe("201");
    expect(answer.body).toMatchObject({ walletAddress: address, chainType: families[right] });
  });

  const isChecked = ([, right]: (typeof addresses)[number]) => right !== "usdc-solana";
  test.each(addresses.filter(isChecked))(
    "in %s with one character wrong is refused for %s",
    async (_form, right, address) => {
      const before = await stateOf();
      expect(refusalOf(await add(typoOf(address), right))).toBe("422 INVALID_WALLET_ADDRESS");
      expect(await stateOf()).toEqual(before);
    },
  );

  test.each(places)("that is none at all is refused for %s, never with a 5xx", async (place) => {
    const before = await stateOf();
    for (const [typed, expected] of hostile) {
      expect(refusalOf(await add(typed, place))).toBe(expected);
    }
    expect(await stateOf()).toEqual(before);
  });
});

/** The address with its tenth character from the end replaced by a neighbour in the alphabet. */
const typoOf = (address: string): string => {
  const place = address.length - 10;
  const character = address[place] === "3" ? "4" : "3";
  return address.slice(0, place) + character + address.slice(place + 1);
};

const hostile: [typed: unknown, expected: string][] = [
  ["", "422 INVALID_WALLET_ADDRESS"],
  ["0x", "422 INVALID_WALLET_ADDRESS"],
  ["vitalik.eth", "422 INVALID_WALLET_ADDRESS"],
  ["bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "422 INVALID_WALLET_ADDRESS"],
  ["' OR 1=1 --", "422 INVALID_WALLET_ADDRESS"],
  ["🦊".repeat(10), "422 INVALID_WALLET_ADDRESS"],
  ["1".repeat(100), "422 INVALID_WALLET_ADDRESS"],
  ["z".repeat(200), "422 INVALID_WALLET_ADDRESS"],
  ["z".repeat(201), "422 string_too_long"],
  ["abc\0", "422 string_pattern_mismatch"],
  ["abc\uD800", "422 string_pattern_mismatch"],
  [null, "422 string_type"],
  [{}, "422 string_type"],
];
