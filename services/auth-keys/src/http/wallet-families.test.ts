import { beforeAll, describe, expect, test } from "@jest/globals";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58, createBase58check } from "@scure/base";
import * as z from "zod";
import type { ChainType } from "@payment-links/chains";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { getAccount } from "../store/accounts.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/console/api/wallets";

const rig = useRig(createRig);
let cookie: string;
let userId: string;
beforeAll(async () => {
  ({ cookie, userId } = await rig.signUp());
});

const base58check = createBase58check(sha256);
const createFilledBytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const encodeVersioned = (version: number): string =>
  base58check.encode(Uint8Array.of(version, ...createFilledBytes(20)));
/** The account key of the mnemonic "abandon … about", whose addresses are known (BIP-84). */
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const zprv =
  "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE";
const xpub =
  "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";
/** The same key in the format of test networks. */
const tpub = base58check.encode(
  Uint8Array.of(0x04, 0x35, 0x87, 0xcf, ...base58check.decode(xpub).subarray(4)),
);

type TokenId = "usdc-base" | "usdc-solana" | "usdt-tron" | "btc" | "btc-testnet4";
const chainTypes: Record<TokenId, ChainType> = {
  "usdc-base": "EVM",
  "usdc-solana": "SVM",
  "usdt-tron": "TVM",
  btc: "BVM",
  "btc-testnet4": "BVM",
};
const tokenIds = Object.keys(chainTypes) as TokenId[];

/** One address of each format, and the only token for which it is valid. */
const addresses: [form: string, right: TokenId, address: string][] = [
  ["EIP-55", "usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
  ["32 bytes in base58", "usdc-solana", base58.encode(createFilledBytes(32))],
  ["base58check with Tron's prefix", "usdt-tron", encodeVersioned(0x41)],
  ["a descriptor", "btc", `wpkh(${xpub}/0/*)`],
  ["a taproot descriptor", "btc", `tr(${xpub}/0/*)`],
  ["a test network's descriptor", "btc-testnet4", `sh(wpkh(${tpub}/0/*))`],
];

const addWallet = (walletAddress: unknown, tokenId: TokenId) =>
  rig.call("POST", path, { cookie, body: { walletAddress, tokenId } });

const readState = async () => ({
  wallets: (await rig.call("GET", path, { cookie })).body,
  events: (await rig.readEvents(userId)).length,
  auditEntries: (await rig.readAudit(userId)).length,
});

describe("an address (rule CALLER-14)", () => {
  const wrongPairs = addresses.flatMap(([description, validTokenId, address]) =>
    tokenIds
      .filter((tokenId) => tokenId !== validTokenId)
      .map((tokenId) => [description, tokenId, address] as const),
  );
  test.each(wrongPairs)(
    "with the format %s is rejected for %s",
    async (_form, tokenId, address) => {
      const stateBefore = await readState();
      expect(summarizeResponse(await addWallet(address, tokenId))).toBe(
        "422 INVALID_WALLET_ADDRESS",
      );
      expect(await readState()).toEqual(stateBefore);
    },
  );

  test.each(addresses)("with the format %s is accepted for %s", async (_form, tokenId, address) => {
    const response = await addWallet(address, tokenId);
    expect(summarizeResponse(response)).toBe("201");
    expect(response.body).toMatchObject({ walletAddress: address, chainType: chainTypes[tokenId] });
  });

  const hasChecksum = ([, tokenId]: (typeof addresses)[number]) => tokenId !== "usdc-solana";
  test.each(addresses.filter(hasChecksum))(
    "with the format %s and one wrong character is rejected for %s",
    async (_form, tokenId, address) => {
      const stateBefore = await readState();
      expect(summarizeResponse(await addWallet(withTypo(address), tokenId))).toBe(
        "422 INVALID_WALLET_ADDRESS",
      );
      expect(await readState()).toEqual(stateBefore);
    },
  );

  test.each(tokenIds)(
    "in no known format is rejected for %s, never with a 5xx",
    async (tokenId) => {
      const stateBefore = await readState();
      for (const [input, expected] of hostileInputs) {
        expect(summarizeResponse(await addWallet(input, tokenId))).toBe(expected);
      }
      expect(await readState()).toEqual(stateBefore);
    },
  );
});

/** Returns the address with its tenth character from the end replaced. */
const withTypo = (address: string): string => {
  const position = address.length - 10;
  const character = address[position] === "3" ? "4" : "3";
  return address.slice(0, position) + character + address.slice(position + 1);
};

const hostileInputs: [typed: unknown, expected: string][] = [
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

const WalletResponse = z.object({ firstAddresses: z.array(z.string()) });
const AuditPage = z.object({
  data: z.array(z.object({ action: z.string(), detail: z.record(z.string(), z.unknown()) })),
});

describe("the first address index of a Bitcoin wallet", () => {
  test.each([
    [{}, 0],
    [{ firstAddressIndex: null }, 0],
    [{ firstAddressIndex: 12 }, 12],
    [{ firstAddressIndex: 1_000_000 }, 1_000_000],
  ])(
    "given %j is %d, and is sent to other services (rule CALLER-33)",
    async (overrides, expected) => {
      const owner = await rig.signUp();
      const body = { walletAddress: zpub, tokenId: "btc", ...overrides };
      const addResponse = await rig.call("POST", path, { cookie: owner.cookie, body });
      expect(summarizeResponse(addResponse)).toBe("201");
      expect(addResponse.body["firstAddressIndex"]).toBe(expected);
      const listResponse = await rig.call("GET", path, { cookie: owner.cookie });
      expect(listResponse.body["data"]).toEqual([addResponse.body]);
      const { wallets } = await getAccount(rig.pool, owner.userId);
      expect(wallets).toMatchObject([{ firstAddressIndex: expected }]);
    },
  );

  test.each([
    [-1, "422 greater_than_equal"],
    [1_000_001, "422 less_than_equal"],
    [1.5, "422 int_from_float"],
    [true, "422 int_type"],
  ])("is rejected if it is %j", async (firstAddressIndex, expectedError) => {
    const { cookie } = await rig.signUp();
    const body = { walletAddress: zpub, tokenId: "btc", firstAddressIndex };
    expect(summarizeResponse(await rig.call("POST", path, { cookie, body }))).toBe(expectedError);
  });
});

describe("a Bitcoin wallet (rule CALLER-14)", () => {
  const expectedAddresses = [
    "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
  ];

  test("is stored once, as its descriptor, and returned with its first five addresses", async () => {
    const owner = await rig.signUp();
    const call = (method: string, subPath: string, body?: object) =>
      rig.call(method, path + subPath, { cookie: owner.cookie, ...(body && { body }) });
    const addResponse = await call("POST", "", { walletAddress: zpub, tokenId: "btc" });
    expect(summarizeResponse(addResponse)).toBe("201");
    const expectedWallet = { walletAddress: `wpkh(${xpub}/0/*)`, chainType: "BVM" };
    expect(addResponse.body).toMatchObject(expectedWallet);
    const { firstAddresses } = WalletResponse.parse(addResponse.body);
    expect(firstAddresses).toHaveLength(5);
    expect(firstAddresses.slice(0, 2)).toEqual(expectedAddresses);
    const sameWallet = `wpkh([d34db33f/84h/0h/0h]${xpub}/<0;1>/*)`;
    expect(
      summarizeResponse(await call("POST", "", { walletAddress: sameWallet, tokenId: "btc" })),
    ).toBe("409 WALLET_EXISTS");
    expect((await call("GET", "")).body["data"]).toEqual([addResponse.body]);
    const changeResponse = await call("PATCH", `/${String(addResponse.body["id"])}`, {
      isDefault: false,
    });
    expect(changeResponse.body).toEqual({ ...addResponse.body, isDefault: false });
  });

  test("appears in the audit log without its key, which would reveal all of the owner's payments", async () => {
    const owner = await rig.signUp();
    const { cookie } = owner;
    const addResponse = await rig.call("POST", path, {
      cookie,
      body: { walletAddress: zpub, tokenId: "btc" },
    });
    await rig.call("DELETE", `${path}/${String(addResponse.body["id"])}`, { cookie });
    const log = await rig.call("GET", "/console/api/audit-log", { cookie });
    const { data } = AuditPage.parse(log.body);
    const walletEntries = data.filter(({ action }) => action.startsWith("wallet."));
    expect(walletEntries.map(({ action, detail }) => [action, detail["walletAddress"]])).toEqual([
      ["wallet.deleted", expectedAddresses[0]],
      ["wallet.added", expectedAddresses[0]],
    ]);
    expect(JSON.stringify(data)).not.toContain("pub6");
  });

  test("requires a key instead of a single address", async () => {
    expect(summarizeResponse(await addWallet(expectedAddresses[0], "btc"))).toBe(
      "422 BITCOIN_KEY_REQUIRED",
    );
  });
});

describe("a private key (rule CALLER-14)", () => {
  const mnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow";
  const secrets = [
    zprv,
    `wpkh(${zprv}/0/*)`,
    mnemonic,
    `${mnemonic} ${mnemonic}`,
    `0x${"5a".repeat(32)}`,
  ];

  test.each(tokenIds)(
    "is rejected for %s with its own error code, and is stored nowhere",
    async (tokenId) => {
      const stateBefore = await readState();
      for (const secret of secrets) {
        const response = await addWallet(secret, tokenId);
        expect(summarizeResponse(response)).toBe("422 PRIVATE_KEY_REFUSED");
        expect(JSON.stringify(response.body)).not.toContain(secret.slice(0, 16));
      }
      expect(await readState()).toEqual(stateBefore);
    },
  );
});
