import { describe, expect, test } from "@jest/globals";
import { type SiweMessage, parseSiweMessage } from "viem/siwe";
import { openCatalogue } from "@payment-links/contracts";
import { makeWallet, siweMessage } from "../testing/siwe.ts";
import {
  evmChainIds,
  judgeSiwe,
  namedSigner,
  siweAgeMsMax,
  siweSkewMsMax,
  writeSiwe,
} from "./siwe.ts";

const now = new Date("2026-11-21T10:00:00.000Z");
const nonce = "0123456789abcdef";
const wallet = makeWallet();
const other = makeWallet();
const expected = { origin: "https://pay.example:8443", chainIds: ["1", "8453"], now };

const write = (given: Partial<SiweMessage> = {}): string =>
  siweMessage({
    address: wallet.address,
    nonce,
    issuedAt: now,
    domain: "pay.example:8443",
    uri: "https://pay.example:8443/console",
    ...given,
  });

const judge = async (message: string, signer = wallet, expectation = expected) =>
  judgeSiwe({ message, signature: await signer.signMessage({ message }) }, expectation, nobody);

const at = (ms: number): Date => new Date(now.getTime() + ms);
const line = (name: string, value: string) => (message: string) =>
  message.replace(new RegExp(`^${name}: .*$`, "m"), `${name}: ${value}`);

const nobody = () => Promise.resolve(false);
const proof = { address: wallet.address, nonce };

describe("a message that is right", () => {
  test.each<[string, Partial<SiweMessage>]>([
    ["as plain as can be", {}],
    ["with a statement", { statement: "I accept the terms: https://pay.example/terms" }],
    ["with our scheme", { scheme: "https" }],
    ["with our origin alone as URI", { uri: "https://pay.example:8443" }],
    ["for another chain of the catalogue", { chainId: 1 }],
    ["issued as long ago as may be", { issuedAt: at(-siweAgeMsMax) }],
    ["issued by a clock as far ahead as may be", { issuedAt: at(siweSkewMsMax) }],
    ["not expired yet", { expirationTime: at(1) }],
    ["valid from now", { notBefore: now }],
    ["with a request id and resources", { requestId: "a-1", resources: ["ipfs://q", "https://x"] }],
  ])("%s, names its signer and its nonce", async (_name, given) => {
    expect(await judge(write(given))).toEqual(proof);
  });

  test.each(["2026-11-21T10:00:00Z", "2026-11-21T11:00:00+01:00", "2026-11-21T10:00:00.123456Z"])(
    "may write its time as %s",
    async (issuedAt) => {
      expect(await judge(line("Issued At", issuedAt)(write()))).toEqual(proof);
    },
  );

  test("may be for an IPv6 origin, which other writers do not know", async () => {
    const message = write({ domain: "localhost:1", uri: "http://localhost:1" });
    const ours = message.replaceAll("localhost", "[::1]");
    const expectation = { ...expected, origin: "http://[::1]:1" };
    expect(await judge(ours, wallet, expectation)).toEqual(proof);
  });
});

describe("a message that we write", () => {
  const message = writeSiwe({ ...expected, chainId: "1", address: wallet.address, nonce });

  test("is one that we accept, at once and as long as its nonce is good", async () => {
    expect(await judge(message)).toEqual(proof);
    expect(await judge(message, wallet, { ...expected, now: at(siweAgeMsMax) })).toEqual(proof);
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
    ["issued too long ago", { issuedAt: at(-siweAgeMsMax - 1) }, "issued_at"],
    ["issued in the future", { issuedAt: at(siweSkewMsMax + 1) }, "issued_at"],
    ["expired this instant", { expirationTime: now }, "expiration_time"],
    ["expired long ago", { expirationTime: at(-60_000) }, "expiration_time"],
    ["not valid yet", { notBefore: at(1) }, "not_before"],
    ["another's address", { address: other.address }, "signature"],
  ])("%s, is refused for it", async (_name, given, fault) => {
    expect(await judge(write(given))).toBe(fault);
  });

  test.each<[string, (message: string) => string, string]>([
    ["version 2", line("Version", "2"), "version"],
    ["an impossible time", line("Issued At", "2026-02-30T10:00:00Z"), "issued_at"],
    [
      "an address in small letters",
      (m) => m.replace(/0x\w{40}/, (a) => a.toLowerCase()),
      "address",
    ],
    ["no time of issue", (m) => m.replace(/\nIssued At: .*$/m, ""), "malformed"],
    ["no nonce", (m) => m.replace(/\nNonce: .*$/m, ""), "malformed"],
    ["no URI", (m) => m.replace(/\nURI: .*$/m, ""), "malformed"],
    ["no chain", (m) => m.replace(/\nChain ID: .*$/m, ""), "malformed"],
    ["a time without an offset", line("Issued At", "2026-11-21T10:00:00"), "malformed"],
    ["a date instead of a time", line("Issued At", "2026-11-21"), "malformed"],
    ["a time in words", line("Issued At", "now"), "malformed"],
    ["a chain with a leading zero", line("Chain ID", "08453"), "malformed"],
    ["a chain in hex", line("Chain ID", "0x2105"), "malformed"],
    ["an impossible end", (m) => `${m}\nExpiration Time: 2026-11-31T10:00:00Z`, "expiration_time"],
    ["an impossible beginning", (m) => `${m}\nNot Before: 2026-02-30T10:00:00Z`, "not_before"],
    [
      "a time finer than nanoseconds",
      line("Issued At", "2026-11-21T10:00:00.1234567890Z"),
      "malformed",
    ],
    ["a nonce of 7 characters", line("Nonce", "a".repeat(7)), "malformed"],
    ["a nonce of 65 characters", line("Nonce", "a".repeat(65)), "malformed"],
    ["a nonce with a blank", line("Nonce", "abcdefgh ijk"), "malformed"],
    ["text behind it", (m) => `${m}\nAmount: all`, "malformed"],
    ["a line end behind it", (m) => `${m}\n`, "malformed"],
    ["text before it", (m) => `Dear user,\n${m}`, "malformed"],
    ["another message behind it", (m) => `${m}\n${m}`, "malformed"],
    ["carriage returns", (m) => m.replaceAll("\n", "\r\n"), "malformed"],
    ["a statement of two lines", (m) => m.replace("\n\n\n", "\n\none\ntwo\n\n"), "malformed"],
    ["an empty statement", (m) => m.replace("\n\n\n", "\n\n\n\n"), "malformed"],
    [
      "a statement that is drawn over itself",
      (m) => m.replace("\n\n\n", "\n\nhidden\rshown\n\n"),
      "malformed",
    ],
    ["a blank line missing", (m) => m.replace("\n\n\n", "\n\n"), "malformed"],
    ["fields in another order", (m) => m.replace(/(URI: .*)\n(Version: 1)/, "$2\n$1"), "malformed"],
    ["a field twice", (m) => m.replace(/(\nNonce: .*)/, "$1$1"), "malformed"],
    ["a half address", (m) => m.replace(/0x\w{40}/, (a) => a.slice(0, 22)), "malformed"],
    ["no domain", (m) => m.replace(/^\S+/, ""), "malformed"],
    ["nothing in it", () => "", "malformed"],
    [
      "4,000 blanks in its statement",
      (m) => m.replace("\n\n\n", `\n\n${" ".repeat(4000)}`),
      "malformed",
    ],
  ])("%s, is refused for it", async (_name, change, fault) => {
    expect(await judge(change(write()))).toBe(fault);
  });
});

test("whom a refused message names is written as identities are, in whatever case it was", () => {
  const { address } = wallet;
  const message = write().replace(address, address.toLowerCase());
  expect(namedSigner(message)).toEqual({ address, chainId: "8453" });
  expect(namedSigner("no message")).toBeUndefined();
});

test("a message may name the catalogue's EVM chains, and none of another family", () => {
  const { chains } = openCatalogue();
  const ids = evmChainIds({ chains: chains.toReversed() });
  expect(ids).toContain("8453");
  for (const id of ids) expect(id).toMatch(/^\d+$/);
});

const message = write();
const signed = await wallet.signMessage({ message });
const signedByOther = await other.signMessage({ message });
const signedElse = await wallet.signMessage({ message: `${message} ` });

describe("a signature", () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const r = signed.slice(2, 66);
  const s = signed.slice(66, 130);
  const v = signed.slice(130);
  const highS = (order - BigInt(`0x${s}`)).toString(16).padStart(64, "0");
  const otherV = v === "1b" ? "1c" : "1b";

  test("with 0 or 1 as its last byte, as some wallets write it, is accepted", async () => {
    const signature = `0x${r}${s}${v === "1b" ? "00" : "01"}`;
    expect(await judgeSiwe({ message, signature }, expected, nobody)).toEqual(proof);
  });

  test("in capitals is accepted", async () => {
    const signature = `0x${signed.slice(2).toUpperCase()}`;
    expect(await judgeSiwe({ message, signature }, expected, nobody)).toEqual(proof);
  });

  test.each([
    ["another's", signedByOther],
    ["of another message", signedElse],
    ["in its other guise, with a high s", `0x${r}${highS}${otherV}`],
    ["with another recovery byte", `0x${r}${s}${otherV}`],
    ["with an unknown recovery byte", `0x${r}${s}1d`],
    ["without its recovery byte", `0x${r}${s}`],
    ["with an odd digit", `${signed}0`],
    ["with a byte too many", `${signed}00`],
    ["without 0x", signed.slice(2)],
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
    expect(await judgeSiwe({ message, signature }, expected, nobody)).toBe("signature");
  });
});
