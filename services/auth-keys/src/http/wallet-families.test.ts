import { beforeAll, describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, createBase58check } from "@scure/base";
import * as z from "zod";
import type { ChainType } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { getAccount } from "../store/accounts.ts";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const path = "/console/api/wallets";

const rig = useRig(openRig);
let cookie: string;
let userId: string;
beforeAll(async () => {
  ({ cookie, userId } = await rig.signUp());
});

const base58check = createBase58check(sha256);
const filled = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const versioned = (version: number): string =>
  base58check.encode(Uint8Array.of(version, ...filled(20)));
/** The key of an account of "abandon … about", whose addresses are known (BIP-84). */
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const zprv =
  "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE";
const xpub =
  "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";
/** The same key, as a test network writes it. */
const tpub = base58check.encode(
  Uint8Array.of(0x04, 0x35, 0x87, 0xcf, ...base58check.decode(xpub).subarray(4)),
);

type Place = "usdc-base" | "usdc-solana" | "usdt-tron" | "btc" | "btc-testnet4";
const families: Record<Place, ChainType> = {
  "usdc-base": "EVM",
  "usdc-solana": "SVM",
  "usdt-tron": "TVM",
  btc: "BVM",
  "btc-testnet4": "BVM",
};
const places = Object.keys(families) as Place[];

/** One address of each form, and the one chain where it is right. */
const addresses: [form: string, right: Place, address: string][] = [
  ["EIP-55", "usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
  ["base58 of 32 bytes", "usdc-solana", base58.encode(filled(32))],
  ["base58check with Tron's prefix", "usdt-tron", versioned(0x41)],
  ["a descriptor", "btc", `wpkh(${xpub}/0/*)`],
  ["a descriptor of taproot", "btc", `tr(${xpub}/0/*)`],
  ["a test network's descriptor", "btc-testnet4", `sh(wpkh(${tpub}/0/*))`],
];

const add = (walletAddress: unknown, tokenId: Place) =>
  rig.call("POST", path, { cookie, body: { walletAddress, tokenId } });

const stateOf = async () => ({
  wallets: (await rig.call("GET", path, { cookie })).body,
  events: (await rig.readEvents(userId)).length,
  deeds: (await rig.readAudit(userId)).length,
});

describe("an address (rule CALLER-14)", () => {
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
  ["z".repeat(300), "422 INVALID_WALLET_ADDRESS"],
  ["z".repeat(301), "422 string_too_long"],
  ["0b".repeat(32), "422 PRIVATE_KEY_REFUSED"],
  ["abc\0", "422 string_pattern_mismatch"],
  ["abc\uD800", "422 string_pattern_mismatch"],
  [null, "422 string_type"],
  [{}, "422 string_type"],
];

const Shown = z.object({ firstAddresses: z.array(z.string()) });
const AuditPage = z.object({
  data: z.array(z.object({ action: z.string(), detail: z.record(z.string(), z.unknown()) })),
});

describe("the first index of a wallet on Bitcoin", () => {
  test.each([
    [{}, 0],
    [{ firstAddressIndex: null }, 0],
    [{ firstAddressIndex: 12 }, 12],
    [{ firstAddressIndex: 1_000_000 }, 1_000_000],
  ])("given %j is %d, and goes to the other services (rule CALLER-33)", async (given, expected) => {
    const owner = await rig.signUp();
    const body = { walletAddress: zpub, tokenId: "btc", ...given };
    const added = await rig.call("POST", path, { cookie: owner.cookie, body });
    expect(refusalOf(added)).toBe("201");
    expect(added.body["firstAddressIndex"]).toBe(expected);
    const listed = await rig.call("GET", path, { cookie: owner.cookie });
    expect(listed.body["data"]).toEqual([added.body]);
    const { wallets } = await getAccount(rig.pool, owner.userId);
    expect(wallets).toMatchObject([{ firstAddressIndex: expected }]);
  });

  test.each([
    [-1, "422 greater_than_equal"],
    [1_000_001, "422 less_than_equal"],
    [1.5, "422 int_from_float"],
    [true, "422 int_type"],
  ])("%j is refused", async (firstAddressIndex, refusal) => {
    const { cookie } = await rig.signUp();
    const body = { walletAddress: zpub, tokenId: "btc", firstAddressIndex };
    expect(refusalOf(await rig.call("POST", path, { cookie, body }))).toBe(refusal);
  });
});

describe("a wallet on Bitcoin (rule CALLER-14)", () => {
  const first = [
    "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
  ];

  test("is kept as its descriptor, once, and shown with its first five addresses wherever its owner sees it", async () => {
    const owner = await rig.signUp();
    const call = (method: string, way: string, body?: object) =>
      rig.call(method, path + way, { cookie: owner.cookie, ...(body && { body }) });
    const added = await call("POST", "", { walletAddress: zpub, tokenId: "btc" });
    expect(refusalOf(added)).toBe("201");
    const shown = { walletAddress: `wpkh(${xpub}/0/*)`, chainType: "BVM" };
    expect(added.body).toMatchObject(shown);
    const { firstAddresses } = Shown.parse(added.body);
    expect(firstAddresses).toHaveLength(5);
    expect(firstAddresses.slice(0, 2)).toEqual(first);
    const again = `wpkh([d34db33f/84h/0h/0h]${xpub}/<0;1>/*)`;
    expect(refusalOf(await call("POST", "", { walletAddress: again, tokenId: "btc" }))).toBe(
      "409 WALLET_EXISTS",
    );
    expect((await call("GET", "")).body["data"]).toEqual([added.body]);
    const changed = await call("PATCH", `/${String(added.body["id"])}`, { isDefault: false });
    expect(changed.body).toEqual({ ...added.body, isDefault: false });
  });

  test("is not told to the audit log by its key, which shows all that its owner is ever paid", async () => {
    const owner = await rig.signUp();
    const { cookie } = owner;
    const added = await rig.call("POST", path, {
      cookie,
      body: { walletAddress: zpub, tokenId: "btc" },
    });
    await rig.call("DELETE", `${path}/${String(added.body["id"])}`, { cookie });
    const log = await rig.call("GET", "/console/api/audit-log", { cookie });
    const { data } = AuditPage.parse(log.body);
    const told = data.filter(({ action }) => action.startsWith("wallet."));
    expect(told.map(({ action, detail }) => [action, detail["walletAddress"]])).toEqual([
      ["wallet.deleted", first[0]],
      ["wallet.added", first[0]],
    ]);
    expect(JSON.stringify(data)).not.toContain("pub6");
  });

  test("is asked for by its key where one address is given", async () => {
    expect(refusalOf(await add(first[0], "btc"))).toBe("422 BITCOIN_KEY_REQUIRED");
  });
});

describe("a private key (rule CALLER-14)", () => {
  const words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
  const secrets = [zprv, `wpkh(${zprv}/0/*)`, words, `${words} ${words}`, `0x${"5a".repeat(32)}`];

  test.each(places)("is refused for %s in words of its own, and is kept nowhere", async (place) => {
    const before = await stateOf();
    for (const secret of secrets) {
      const answer = await add(secret, place);
      expect(refusalOf(answer)).toBe("422 PRIVATE_KEY_REFUSED");
      expect(JSON.stringify(answer.body)).not.toContain(secret.slice(0, 16));
    }
    expect(await stateOf()).toEqual(before);
  });
});
