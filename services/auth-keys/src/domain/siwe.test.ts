import { describe, expect, test } from "@jest/globals";
import { type SiweMessage, parseSiweMessage } from "viem/siwe";
import { loadCatalogue } from "@payment-links/contracts";
import { createWallet, createTestSiweMessage } from "../testing/siwe.ts";
import {
  getEvmChainIds,
  verifySiwe,
  parseClaimedSigner,
  siweAgeMsMax,
  siweSkewMsMax,
  buildSiweMessage,
} from "./siwe.ts";

const now = new Date("2026-11-21T10:00:00.000Z");
const nonce = "0123456789abcdef";
const wallet = createWallet();
const otherWallet = createWallet();
const expectation = { origin: "https://pay.example:8443", chainIds: ["1", "8453"], now };

const createMessage = (overrides: Partial<SiweMessage> = {}): string =>
  createTestSiweMessage({
    address: wallet.address,
    nonce,
    issuedAt: now,
    domain: "pay.example:8443",
    uri: "https://pay.example:8443/console",
    ...overrides,
  });

const verify = async (message: string, signer = wallet, customExpectation = expectation) =>
  verifySiwe(
    { message, signature: await signer.signMessage({ message }) },
    customExpectation,
    rejectContractSignature,
  );

const offsetFromNow = (ms: number): Date => new Date(now.getTime() + ms);
const replaceField = (name: string, value: string) => (message: string) =>
  message.replace(new RegExp(`^${name}: .*$`, "m"), `${name}: ${value}`);

const rejectContractSignature = () => Promise.resolve(false);
const proof = { address: wallet.address, nonce };

describe("a message that is right", () => {
  test.each<[string, Partial<SiweMessage>]>([
    ["as plain as can be", {}],
    ["with a statement", { statement: "I accept the terms: https://pay.example/terms" }],
    ["with our scheme", { scheme: "https" }],
    ["with our origin alone as URI", { uri: "https://pay.example:8443" }],
    ["for another chain of the catalogue", { chainId: 1 }],
    ["issued as long ago as may be", { issuedAt: offsetFromNow(-siweAgeMsMax) }],
    ["issued by a clock as far ahead as may be", { issuedAt: offsetFromNow(siweSkewMsMax) }],
    ["not expired yet", { expirationTime: offsetFromNow(1) }],
    ["valid from now", { notBefore: now }],
    ["with a request id and resources", { requestId: "a-1", resources: ["ipfs://q", "https://x"] }],
  ])("%s, names its signer and its nonce", async (_name, overrides) => {
    expect(await verify(createMessage(overrides))).toEqual(proof);
  });

  test.each(["2026-11-21T10:00:00Z", "2026-11-21T11:00:00+01:00", "2026-11-21T10:00:00.123456Z"])(
    "may write its time as %s",
    async (issuedAt) => {
      expect(await verify(replaceField("Issued At", issuedAt)(createMessage()))).toEqual(proof);
    },
  );

  test("may be for an IPv6 origin, which other writers do not know", async () => {
    const message = createMessage({ domain: "localhost:1", uri: "http://localhost:1" });
    const ipv6Message = message.replaceAll("localhost", "[::1]");
    const customExpectation = { ...expectation, origin: "http://[::1]:1" };
    expect(await verify(ipv6Message, wallet, customExpectation)).toEqual(proof);
  });
});

describe("a message that we write", () => {
  const message = buildSiweMessage({
    ...expectation,
    chainId: "1",
    address: wallet.address,
    nonce,
  });

  test("is one that we accept, at once and as long as its nonce is good", async () => {
    expect(await verify(message)).toEqual(proof);
    expect(
      await verify(message, wallet, { ...expectation, now: offsetFromNow(siweAgeMsMax) }),
    ).toEqual(proof);
  });

  test("reads the same to another reader", () => {
    expect(parseSiweMessage(message)).toMatchObject({
      address: wallet.address,
      domain: "pay.example:8443",
      uri: "https://pay.example:8443",
      chainId: 1,
      nonce,
      issuedAt: now,
    });
  });
});

describe("a message with one field wrong (rule CALLER-11)", () => {
  test.each<[string, Partial<SiweMessage>, string]>([
    ["another domain", { domain: "evil.example:8443" }, "domain"],
    ["our domain without its port", { domain: "pay.example" }, "domain"],
    ["our domain with another port", { domain: "pay.example:8444" }, "domain"],
    ["our domain as a part of another", { domain: "pay.example.evil.example:8443" }, "domain"],
    ["another scheme", { scheme: "http" }, "scheme"],
    ["another site's URI", { uri: "https://evil.example" }, "uri"],
    ["our URI on http", { uri: "http://pay.example:8443" }, "uri"],
    ["a URI that begins as ours does", { uri: "https://pay.example:84430" }, "uri"],
    ["a URI with our origin as its user", { uri: "https://pay.example:8443@evil.example" }, "uri"],
    ["a URI with a user", { uri: "https://me@pay.example:8443/" }, "uri"],
    ["a chain that is not in the catalogue", { chainId: 5 }, "chain_id"],
    ["issued too long ago", { issuedAt: offsetFromNow(-siweAgeMsMax - 1) }, "issued_at"],
    ["issued in the future", { issuedAt: offsetFromNow(siweSkewMsMax + 1) }, "issued_at"],
    ["expired this instant", { expirationTime: now }, "expiration_time"],
    ["expired long ago", { expirationTime: offsetFromNow(-60_000) }, "expiration_time"],
    ["not valid yet", { notBefore: offsetFromNow(1) }, "not_before"],
    ["another's address", { address: otherWallet.address }, "signature"],
  ])("%s, is refused for it", async (_name, overrides, fault) => {
    expect(await verify(createMessage(overrides))).toBe(fault);
  });

  test.each<[string, (message: string) => string, string]>([
    ["version 2", replaceField("Version", "2"), "version"],
    ["an impossible time", replaceField("Issued At", "2026-02-30T10:00:00Z"), "issued_at"],
    [
      "an address in small letters",
      (text) => text.replace(/0x\w{40}/, (a) => a.toLowerCase()),
      "address",
    ],
    ["no time of issue", (text) => text.replace(/\nIssued At: .*$/m, ""), "malformed"],
    ["no nonce", (text) => text.replace(/\nNonce: .*$/m, ""), "malformed"],
    ["no URI", (text) => text.replace(/\nURI: .*$/m, ""), "malformed"],
    ["no chain", (text) => text.replace(/\nChain ID: .*$/m, ""), "malformed"],
    ["a time without an offset", replaceField("Issued At", "2026-11-21T10:00:00"), "malformed"],
    ["a date instead of a time", replaceField("Issued At", "2026-11-21"), "malformed"],
    ["a time in words", replaceField("Issued At", "now"), "malformed"],
    ["a chain with a leading zero", replaceField("Chain ID", "08453"), "malformed"],
    ["a chain in hex", replaceField("Chain ID", "0x2105"), "malformed"],
    [
      "an impossible end",
      (text) => `${text}\nExpiration Time: 2026-11-31T10:00:00Z`,
      "expiration_time",
    ],
    [
      "an impossible beginning",
      (text) => `${text}\nNot Before: 2026-02-30T10:00:00Z`,
      "not_before",
    ],
    [
      "a time finer than nanoseconds",
      replaceField("Issued At", "2026-11-21T10:00:00.1234567890Z"),
      "malformed",
    ],
    ["a nonce of 7 characters", replaceField("Nonce", "a".repeat(7)), "malformed"],
    ["a nonce of 65 characters", replaceField("Nonce", "a".repeat(65)), "malformed"],
    ["a nonce with a blank", replaceField("Nonce", "abcdefgh ijk"), "malformed"],
    ["text behind it", (text) => `${text}\nAmount: all`, "malformed"],
    ["a line end behind it", (text) => `${text}\n`, "malformed"],
    ["text before it", (text) => `Dear user,\n${text}`, "malformed"],
    ["another message behind it", (text) => `${text}\n${text}`, "malformed"],
    ["carriage returns", (text) => text.replaceAll("\n", "\r\n"), "malformed"],
    ["a statement of two lines", (text) => text.replace("\n\n\n", "\n\none\ntwo\n\n"), "malformed"],
    ["an empty statement", (text) => text.replace("\n\n\n", "\n\n\n\n"), "malformed"],
    [
      "a statement that is drawn over itself",
      (text) => text.replace("\n\n\n", "\n\nhidden\rshown\n\n"),
      "malformed",
    ],
    ["a blank line missing", (text) => text.replace("\n\n\n", "\n\n"), "malformed"],
    [
      "fields in another order",
      (text) => text.replace(/(URI: .*)\n(Version: 1)/, "$2\n$1"),
      "malformed",
    ],
    ["a field twice", (text) => text.replace(/(\nNonce: .*)/, "$1$1"), "malformed"],
    ["a half address", (text) => text.replace(/0x\w{40}/, (a) => a.slice(0, 22)), "malformed"],
    ["no domain", (text) => text.replace(/^\S+/, ""), "malformed"],
    ["nothing in it", () => "", "malformed"],
    [
      "4,000 blanks in its statement",
      (text) => text.replace("\n\n\n", `\n\n${" ".repeat(4000)}`),
      "malformed",
    ],
  ])("%s, is refused for it", async (_name, tamper, fault) => {
    expect(await verify(tamper(createMessage()))).toBe(fault);
  });
});

test("whom a refused message names is written as identities are, in whatever case it was", () => {
  const { address } = wallet;
  const message = createMessage().replace(address, address.toLowerCase());
  expect(parseClaimedSigner(message)).toEqual({ address, chainId: "8453" });
  expect(parseClaimedSigner("no message")).toBeUndefined();
});

test("a message may name the catalogue's EVM chains, and none of another family", () => {
  const { chains } = loadCatalogue();
  const ids = getEvmChainIds({ chains: chains.toReversed() });
  expect(ids).toContain("8453");
  for (const id of ids) expect(id).toMatch(/^\d+$/);
});

const message = createMessage();
const validSignature = await wallet.signMessage({ message });
const otherSignature = await otherWallet.signMessage({ message });
const otherMessageSignature = await wallet.signMessage({ message: `${message} ` });

describe("a signature", () => {
  const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const r = validSignature.slice(2, 66);
  const s = validSignature.slice(66, 130);
  const v = validSignature.slice(130);
  const highS = (curveOrder - BigInt(`0x${s}`)).toString(16).padStart(64, "0");
  const otherV = v === "1b" ? "1c" : "1b";

  test("with 0 or 1 as its last byte, as some wallets write it, is accepted", async () => {
    const signature = `0x${r}${s}${v === "1b" ? "00" : "01"}`;
    expect(await verifySiwe({ message, signature }, expectation, rejectContractSignature)).toEqual(
      proof,
    );
  });

  test("in capitals is accepted", async () => {
    const signature = `0x${validSignature.slice(2).toUpperCase()}`;
    expect(await verifySiwe({ message, signature }, expectation, rejectContractSignature)).toEqual(
      proof,
    );
  });

  test.each([
    ["another's", otherSignature],
    ["of another message", otherMessageSignature],
    ["in its other guise, with a high s", `0x${r}${highS}${otherV}`],
    ["with another recovery byte", `0x${r}${s}${otherV}`],
    ["with an unknown recovery byte", `0x${r}${s}1d`],
    ["without its recovery byte", `0x${r}${s}`],
    ["with an odd digit", `${validSignature}0`],
    ["with a byte too many", `${validSignature}00`],
    ["without 0x", validSignature.slice(2)],
    ["all zeros", `0x${"0".repeat(130)}`],
    ["all ones", `0x${"f".repeat(128)}1b`],
    ["empty", ""],
    ["0x", "0x"],
    [
      "of a contract (EIP-1271, or wrapped as by ERC-6492)",
      `0x${"ab".repeat(200)}${"6492".repeat(16)}`,
    ],
    ["no hex", `0x${"g".repeat(130)}`],
  ])("%s, is refused", async (_name, signature) => {
    expect(await verifySiwe({ message, signature }, expectation, rejectContractSignature)).toBe(
      "signature",
    );
  });
});
