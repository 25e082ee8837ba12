import { describe, expect, test } from "@jest/globals";
import { type SiweMessage, parseSiweMessage } from "viem/siwe";
import { loadCatalogue } from "@payment-links/contracts";
import { createWallet, createTestSiweMessage } from "../testing/siwe.ts";
import {
  getSignInChainIds,
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

describe("a valid message", () => {
  test.each<[string, Partial<SiweMessage>]>([
    ["minimal", {}],
    ["with a statement", { statement: "I accept the terms: https://pay.example/terms" }],
    ["with our scheme", { scheme: "https" }],
    ["with only our origin as URI", { uri: "https://pay.example:8443" }],
    ["for another chain of the catalog", { chainId: 1 }],
    ["with the maximum age", { issuedAt: offsetFromNow(-siweAgeMsMax) }],
    ["with the maximum clock skew", { issuedAt: offsetFromNow(siweSkewMsMax) }],
    ["not expired yet", { expirationTime: offsetFromNow(1) }],
    ["valid from now", { notBefore: now }],
    ["with a request id and resources", { requestId: "a-1", resources: ["ipfs://q", "https://x"] }],
  ])("returns the signer and the nonce: %s", async (_name, overrides) => {
    expect(await verify(createMessage(overrides))).toEqual(proof);
  });

  test.each(["2026-11-21T10:00:00Z", "2026-11-21T11:00:00+01:00", "2026-11-21T10:00:00.123456Z"])(
    "may contain its time as %s",
    async (issuedAt) => {
      expect(await verify(replaceField("Issued At", issuedAt)(createMessage()))).toEqual(proof);
    },
  );

  test("may be for an IPv6 origin, which other libraries do not support", async () => {
    const message = createMessage({ domain: "localhost:1", uri: "http://localhost:1" });
    const ipv6Message = message.replaceAll("localhost", "[::1]");
    const customExpectation = { ...expectation, origin: "http://[::1]:1" };
    expect(await verify(ipv6Message, wallet, customExpectation)).toEqual(proof);
  });
});

describe("buildSiweMessage", () => {
  const message = buildSiweMessage({
    ...expectation,
    chainId: "1",
    address: wallet.address,
    nonce,
  });

  test("builds a message that is accepted immediately and for as long as its nonce is valid", async () => {
    expect(await verify(message)).toEqual(proof);
    expect(
      await verify(message, wallet, { ...expectation, now: offsetFromNow(siweAgeMsMax) }),
    ).toEqual(proof);
  });

  test("builds a message that another parser reads in the same way", () => {
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

describe("a message with one wrong field (rule CALLER-11)", () => {
  test.each<[string, Partial<SiweMessage>, string]>([
    ["another domain", { domain: "evil.example:8443" }, "domain"],
    ["our domain without its port", { domain: "pay.example" }, "domain"],
    ["our domain with another port", { domain: "pay.example:8444" }, "domain"],
    ["our domain as a part of another", { domain: "pay.example.evil.example:8443" }, "domain"],
    ["another scheme", { scheme: "http" }, "scheme"],
    ["another site's URI", { uri: "https://evil.example" }, "uri"],
    ["our URI on http", { uri: "http://pay.example:8443" }, "uri"],
    ["a URI with ours as a string prefix", { uri: "https://pay.example:84430" }, "uri"],
    ["a URI with our origin as its user", { uri: "https://pay.example:8443@evil.example" }, "uri"],
    ["a URI with a user", { uri: "https://me@pay.example:8443/" }, "uri"],
    ["a chain outside the catalog", { chainId: 5 }, "chain_id"],
    ["issued too long ago", { issuedAt: offsetFromNow(-siweAgeMsMax - 1) }, "issued_at"],
    ["issued in the future", { issuedAt: offsetFromNow(siweSkewMsMax + 1) }, "issued_at"],
    ["expired at this instant", { expirationTime: now }, "expiration_time"],
    ["expired long ago", { expirationTime: offsetFromNow(-60_000) }, "expiration_time"],
    ["not valid yet", { notBefore: offsetFromNow(1) }, "not_before"],
    ["another signer's address", { address: otherWallet.address }, "signature"],
  ])("is rejected for %s", async (_name, overrides, fault) => {
    expect(await verify(createMessage(overrides))).toBe(fault);
  });

  test.each<[string, (message: string) => string, string]>([
    ["version 2", replaceField("Version", "2"), "version"],
    ["an impossible time", replaceField("Issued At", "2026-02-30T10:00:00Z"), "issued_at"],
    [
      "an address in lower case",
      (text) => text.replace(/0x\w{40}/, (a) => a.toLowerCase()),
      "address",
    ],
    ["no issue time", (text) => text.replace(/\nIssued At: .*$/m, ""), "malformed"],
    ["no nonce", (text) => text.replace(/\nNonce: .*$/m, ""), "malformed"],
    ["no URI", (text) => text.replace(/\nURI: .*$/m, ""), "malformed"],
    ["no chain", (text) => text.replace(/\nChain ID: .*$/m, ""), "malformed"],
    ["a time without an offset", replaceField("Issued At", "2026-11-21T10:00:00"), "malformed"],
    ["a date instead of a time", replaceField("Issued At", "2026-11-21"), "malformed"],
    ["a time in words", replaceField("Issued At", "now"), "malformed"],
    ["a chain with a leading zero", replaceField("Chain ID", "08453"), "malformed"],
    ["a chain in hex", replaceField("Chain ID", "0x2105"), "malformed"],
    [
      "an impossible expiry",
      (text) => `${text}\nExpiration Time: 2026-11-31T10:00:00Z`,
      "expiration_time",
    ],
    [
      "an impossible not-before time",
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
    ["a nonce with a space", replaceField("Nonce", "abcdefgh ijk"), "malformed"],
    ["text after it", (text) => `${text}\nAmount: all`, "malformed"],
    ["a newline after it", (text) => `${text}\n`, "malformed"],
    ["text before it", (text) => `Dear user,\n${text}`, "malformed"],
    ["another message after it", (text) => `${text}\n${text}`, "malformed"],
    ["carriage returns", (text) => text.replaceAll("\n", "\r\n"), "malformed"],
    ["a statement of two lines", (text) => text.replace("\n\n\n", "\n\none\ntwo\n\n"), "malformed"],
    ["an empty statement", (text) => text.replace("\n\n\n", "\n\n\n\n"), "malformed"],
    [
      "a statement with a carriage return",
      (text) => text.replace("\n\n\n", "\n\nhidden\rshown\n\n"),
      "malformed",
    ],
    ["a blank line missing", (text) => text.replace("\n\n\n", "\n\n"), "malformed"],
    [
      "fields in another order",
      (text) => text.replace(/(URI: .*)\n(Version: 1)/, "$2\n$1"),
      "malformed",
    ],
    ["a duplicate field", (text) => text.replace(/(\nNonce: .*)/, "$1$1"), "malformed"],
    ["half an address", (text) => text.replace(/0x\w{40}/, (a) => a.slice(0, 22)), "malformed"],
    ["no domain", (text) => text.replace(/^\S+/, ""), "malformed"],
    ["an empty text", () => "", "malformed"],
    [
      "4,000 spaces in its statement",
      (text) => text.replace("\n\n\n", `\n\n${" ".repeat(4000)}`),
      "malformed",
    ],
  ])("is rejected for %s", async (_name, tamper, fault) => {
    expect(await verify(tamper(createMessage()))).toBe(fault);
  });
});

test("parseClaimedSigner returns a checksummed address for an address in any case", () => {
  const { address } = wallet;
  const message = createMessage().replace(address, address.toLowerCase());
  expect(parseClaimedSigner(message)).toEqual({ address, chainId: "8453" });
  expect(parseClaimedSigner("no message")).toBeUndefined();
});

test("getSignInChainIds returns only the catalog's EVM chains", () => {
  const { chains } = loadCatalogue();
  const ids = getSignInChainIds({ chains: chains.toReversed() });
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

  test("is accepted with 0 or 1 as its last byte, as some wallets write it", async () => {
    const signature = `0x${r}${s}${v === "1b" ? "00" : "01"}`;
    expect(await verifySiwe({ message, signature }, expectation, rejectContractSignature)).toEqual(
      proof,
    );
  });

  test("is accepted in upper case", async () => {
    const signature = `0x${validSignature.slice(2).toUpperCase()}`;
    expect(await verifySiwe({ message, signature }, expectation, rejectContractSignature)).toEqual(
      proof,
    );
  });

  test.each([
    ["of another signer", otherSignature],
    ["of another message", otherMessageSignature],
    ["in its alternative form with a high s", `0x${r}${highS}${otherV}`],
    ["with another recovery byte", `0x${r}${s}${otherV}`],
    ["with an unknown recovery byte", `0x${r}${s}1d`],
    ["without its recovery byte", `0x${r}${s}`],
    ["with an odd digit", `${validSignature}0`],
    ["with an extra byte", `${validSignature}00`],
    ["without 0x", validSignature.slice(2)],
    ["all zeros", `0x${"0".repeat(130)}`],
    ["all ones", `0x${"f".repeat(128)}1b`],
    ["empty", ""],
    ["0x", "0x"],
    [
      "of a contract (EIP-1271, or wrapped as in ERC-6492)",
      `0x${"ab".repeat(200)}${"6492".repeat(16)}`,
    ],
    ["that is not hex", `0x${"g".repeat(130)}`],
  ])("is rejected: %s", async (_name, signature) => {
    expect(await verifySiwe({ message, signature }, expectation, rejectContractSignature)).toBe(
      "signature",
    );
  });
});
