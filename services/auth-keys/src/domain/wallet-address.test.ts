import { describe, expect, test } from "@jest/globals";
import { base58 } from "@scure/base";
import { type CatalogueChain, loadCatalogue } from "@payment-links/contracts";
import { deriveFirstAddresses, parseWalletAddress } from "./wallet-address.ts";

const { chains } = loadCatalogue();
const getChain = (id: string): CatalogueChain => {
  const chain = chains.find((entry) => entry.id === id);
  if (chain === undefined) throw new Error(`the catalog has no chain ${id}`);
  return chain;
};

// The addresses are from EIP-55, from the documentation of Tron and Solana, and from BIP-84's
// example mnemonic "abandon … about".
const eip55 = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const tron = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const solana = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const zprv =
  "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE";
const descriptor =
  "wpkh(xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V/0/*)";

/** Parses an address of a chain. The codecs have their own tests. */
const parseAddress = (chainId: string, input: string): string =>
  parseWalletAddress(getChain(chainId), input);

describe("parseWalletAddress", () => {
  test.each([
    ["8453", eip55.toLowerCase(), eip55],
    ["tron", tron, tron],
    ["solana", solana, solana],
    ["bitcoin", zpub, descriptor],
  ])("%s: normalizes %s to its family's form", (chainId, input, expected) => {
    expect(parseAddress(chainId, input)).toBe(expected);
  });

  const invalidAddresses = [
    "",
    " ",
    "vitalik.eth",
    `${eip55} `,
    `0x${"0".repeat(40)}`,
    eip55.replace("5aA", "5AA"),
    `${tron.slice(0, -1)}u`,
    "1".repeat(32),
    `${zpub.slice(0, -1)}t`,
    "wsh(sortedmulti(2,a,b))",
    "z".repeat(70),
    "z".repeat(100_000),
  ];
  test.each(["8453", "tron", "solana", "bitcoin"])(
    "%s: rejects what is not an address of any family",
    (chainId) => {
      for (const input of invalidAddresses) {
        expect(() => parseAddress(chainId, input)).toThrow("INVALID_WALLET_ADDRESS");
      }
    },
  );

  test.each([
    ["8453", [tron, solana, zpub]],
    ["tron", [eip55, solana, zpub]],
    ["solana", [eip55, tron, zpub]],
    ["bitcoin", [eip55, tron, solana]],
    ["bitcoin-testnet4", [zpub, descriptor]],
  ])("%s: rejects addresses of other families and networks", (chainId, otherAddresses) => {
    for (const input of otherAddresses) {
      expect(() => parseAddress(chainId, input)).toThrow("INVALID_WALLET_ADDRESS");
    }
  });

  test("requires a key instead of a single Bitcoin address", () => {
    for (const input of [
      "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
      "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    ]) {
      expect(() => parseAddress("bitcoin", input)).toThrow("BITCOIN_KEY_REQUIRED");
    }
  });

  const privateKeys = [
    zprv,
    `${zprv.slice(0, -1)}t`,
    `wpkh(${zprv}/0/*)`,
    "0b".repeat(32),
    `0x${"11".repeat(32)}`,
    base58.encode(new Uint8Array(64).fill(7)),
    "legal winner thank year wave sausage worth useful legal winner thank yellow",
  ];
  test.each(["8453", "tron", "solana", "bitcoin", "bitcoin-testnet4"])(
    "%s: rejects a private key with its own error, which does not repeat the key",
    (chainId) => {
      for (const input of privateKeys) {
        let apiError: unknown;
        try {
          parseAddress(chainId, input);
        } catch (error) {
          apiError = error;
        }
        expect(apiError).toMatchObject({ status: 422, message: "PRIVATE_KEY_REFUSED" });
        expect(JSON.stringify(apiError)).not.toContain(input.slice(0, 20));
      }
    },
  );
});

describe("deriveFirstAddresses", () => {
  test("derives the first addresses of a Bitcoin key", () => {
    expect(deriveFirstAddresses({ id: "bitcoin", chainType: "BVM" }, descriptor)).toEqual([
      "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
      "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
      expect.stringMatching(/^bc1q/),
      expect.stringMatching(/^bc1q/),
      expect.stringMatching(/^bc1q/),
    ]);
  });

  test("returns null for other chains", () => {
    expect(deriveFirstAddresses({ id: "8453", chainType: "EVM" }, eip55)).toBeNull();
  });
});
