import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { nonceLifetimeMs } from "../domain/sign-in-attempt.ts";
import { getCookies, createRig, summarizeResponse } from "../testing/create-rig.ts";
import {
  fetchNonce,
  createWallet,
  prepareSiwe,
  signInWithWallet,
  signSiwe,
  createTestSiweMessage,
} from "../testing/siwe.ts";

const path = "/console/api/session";
const Count = z.object({ count: z.int() });

const rig = useRig(createRig);

const countAccounts = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM accounts`);

describe("GET /console/api/session/nonce", () => {
  test("returns a new nonce for each request, and a cookie that identifies the browser", async () => {
    const response = await rig.call("GET", `${path}/nonce`);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ nonce: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("set-cookie")).toMatch(
      /^sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const cookie = getCookies(response.headers);
    const secondNonce = await fetchNonce(rig, cookie);
    expect(secondNonce.nonce).not.toBe(response.body["nonce"]);
    expect(secondNonce.browserCookie).toBe(cookie);
  });

  test("replaces an invalid browser cookie", async () => {
    for (const cookie of ["sign-in=", "sign-in=short", `sign-in=${"a".repeat(44)}`]) {
      expect((await fetchNonce(rig, cookie)).browserCookie).toMatch(/^sign-in=[\w-]{43}$/);
    }
  });

  test("returns a message to sign for an address in any case", async () => {
    const wallet = createWallet();
    const address = wallet.address.toLowerCase();
    const response = await rig.call("GET", `${path}/nonce?address=${address}`);
    const siwe = await signSiwe(wallet, String(response.body["message"]));
    const cookie = getCookies(response.headers);
    const signInResponse = await rig.call("POST", path, { cookie, body: { siwe } });
    expect(signInResponse.status).toBe(200);
    for (const invalidAddress of ["", "0x", `${address}0`, "x".repeat(101)]) {
      const rejected = await rig.call("GET", `${path}/nonce?address=${invalidAddress}`);
      expect(rejected.status).toBe(422);
      expect(rejected.headers.get("set-cookie")).toBeNull();
    }
  });

  test("rejects a cross-site request", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const response = await rig.call("GET", `${path}/nonce`, { headers });
    expect(summarizeResponse(response)).toBe("403 CROSS_SITE_REQUEST");
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("binds the cookie to the host under https", async () => {
    const secureRig = await createRig({ baseUrl: "https://console.example" });
    try {
      expect((await fetchNonce(secureRig)).browserCookie).toMatch(/^__Host-sign-in=/);
    } finally {
      await secureRig.close();
    }
  });
});

describe("POST /console/api/session with a Sign-In with Ethereum message", () => {
  test("creates and publishes an account without handle and wallet the first time", async () => {
    const wallet = createWallet();
    const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
    const response = await rig.call("POST", path, { cookie: browserCookie, body: { siwe } });
    expect(response.status).toBe(200);
    const { address } = wallet;
    const username = `${address.slice(0, 6)}…${address.slice(-4)}`;
    expect(response.body).toMatchObject({ handle: null, username, isReady: false });
    const userId = String(response.body["id"]);
    const cookie = getCookies(response.headers);
    expect((await rig.call("GET", path, { cookie })).body).toEqual(response.body);
    const wallets = await rig.call("GET", "/console/api/wallets", { cookie });
    expect(wallets.body).toEqual({ data: [] });
    expect(await rig.readEvents(userId)).toMatchObject([
      { type: "account.updated", data: { id: userId, version: 1, handle: null, wallets: [] } },
    ]);
    expect(await rig.readAudit(userId)).toEqual([
      "account.created",
      "identity.linked",
      "session.started",
    ]);
  });

  test("signs in to the same account the next time", async () => {
    const wallet = createWallet();
    const firstSignIn = await signInWithWallet(rig, wallet);
    const secondSignIn = await signInWithWallet(rig, wallet);
    expect(secondSignIn.userId).toBe(firstSignIn.userId);
    expect(secondSignIn.cookie).not.toBe(firstSignIn.cookie);
    expect(await rig.readEvents(firstSignIn.userId)).toHaveLength(1);
  });

  test("creates one account for ten concurrent first sign-ins of one address", async () => {
    const wallet = createWallet();
    const preparedMessages = await Promise.all(
      Array.from({ length: 10 }, () => prepareSiwe(rig, wallet)),
    );
    const accountsBefore = await countAccounts();
    const responses = await Promise.all(
      preparedMessages.map(({ browserCookie, siwe }) =>
        rig.call("POST", path, { cookie: browserCookie, body: { siwe } }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(responses.map(({ body }) => body["id"])).size).toBe(1);
    expect((await countAccounts()) - accountsBefore).toBe(1);
  });

  test("does not sign in to an account that only receives payments at the address (rule CALLER-12)", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = createWallet();
    const tokens = await rig.call("GET", "/console/api/tokens", { cookie });
    const data = tokens.body["data"] as { id: string; token: { chain: { chainType: string } } }[];
    const token = data.find((candidate) => candidate.token.chain.chainType === "EVM");
    const body = { walletAddress: wallet.address, tokenId: token?.id };
    expect((await rig.call("POST", "/console/api/wallets", { cookie, body })).status).toBe(201);
    expect((await signInWithWallet(rig, wallet)).userId).not.toBe(userId);
  });

  test("ends the session that the request carried", async () => {
    const previousSession = await rig.signUp();
    const { browserCookie, siwe } = await prepareSiwe(rig, createWallet());
    const cookie = `${previousSession.cookie}; ${browserCookie}`;
    expect((await rig.call("POST", path, { cookie, body: { siwe } })).status).toBe(200);
    expect((await rig.call("GET", path, { cookie: previousSession.cookie })).status).toBe(401);
  });
});

/** Expects a rejection: no session, no new account, and the existing session stays. */
const expectRejected = async (siwe: object, cookie: string) => {
  const accountsBefore = await countAccounts();
  const previousSession = await rig.signUp();
  const cookies = `${previousSession.cookie}; ${cookie}`;
  const response = await rig.call("POST", path, { cookie: cookies, body: { siwe } });
  expect(summarizeResponse(response)).toBe("401 INVALID_SIWE_MESSAGE");
  expect(response.headers.get("set-cookie")).toBeNull();
  expect((await rig.call("GET", path, { cookie: previousSession.cookie })).status).toBe(200);
  expect(await countAccounts()).toBe(accountsBefore + 1);
};

describe("a nonce (rule CALLER-11)", () => {
  test("works once, in sequence and concurrently", async () => {
    const wallet = createWallet();
    const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
    const sendSignIn = () => rig.call("POST", path, { cookie: browserCookie, body: { siwe } });
    const responses = await Promise.all(Array.from({ length: 5 }, sendSignIn));
    expect(responses.map(summarizeResponse).toSorted()).toEqual([
      "200",
      ...Array(4).fill("401 INVALID_SIWE_MESSAGE"),
    ]);
    await expectRejected(siwe, browserCookie);
  });

  test("works in two tabs of one browser independently, in any order", async () => {
    const wallet = createWallet();
    const firstSignIn = await prepareSiwe(rig, wallet);
    const secondSignIn = await prepareSiwe(rig, wallet, firstSignIn.browserCookie);
    for (const { siwe } of [secondSignIn, firstSignIn]) {
      const response = await rig.call("POST", path, {
        cookie: firstSignIn.browserCookie,
        body: { siwe },
      });
      expect(response.status).toBe(200);
    }
  });

  test("is rejected with another browser's cookie or without one, and stays valid", async () => {
    const wallet = createWallet();
    const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
    const otherNonce = await fetchNonce(rig);
    await expectRejected(siwe, otherNonce.browserCookie);
    await expectRejected(siwe, "theme=dark");
    const response = await rig.call("POST", path, { cookie: browserCookie, body: { siwe } });
    expect(response.status).toBe(200);
  });

  test("is rejected if it was never issued", async () => {
    const wallet = createWallet();
    const { browserCookie } = await fetchNonce(rig);
    const nonce = "0123456789abcdef0123456789abcdef";
    const message = createTestSiweMessage({
      address: wallet.address,
      nonce,
      issuedAt: rig.clock.now(),
    });
    await expectRejected(await signSiwe(wallet, message), browserCookie);
  });

  test("is valid for less than five minutes", async () => {
    const wallet = createWallet();
    const timelyNonce = await fetchNonce(rig);
    const lateNonce = await fetchNonce(rig);
    const signWithNonce = (nonce: string) =>
      signSiwe(
        wallet,
        createTestSiweMessage({ address: wallet.address, nonce, issuedAt: rig.clock.now() }),
      );
    rig.clock.advance(nonceLifetimeMs - 1);
    const siwe = await signWithNonce(timelyNonce.nonce);
    const response = await rig.call("POST", path, {
      cookie: timelyNonce.browserCookie,
      body: { siwe },
    });
    expect(response.status).toBe(200);
    rig.clock.advance(1);
    await expectRejected(await signWithNonce(lateNonce.nonce), lateNonce.browserCookie);
  });

  test("stays valid after a rejected message", async () => {
    const wallet = createWallet();
    const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
    const { signature } = await signSiwe(createWallet(), siwe.message);
    await expectRejected({ ...siwe, signature }, browserCookie);
    const response = await rig.call("POST", path, { cookie: browserCookie, body: { siwe } });
    expect(response.status).toBe(200);
  });
});

describe("a message", () => {
  test.each([
    ["another domain", { domain: "evil.example" }],
    ["another URI", { uri: "https://evil.example" }],
    ["another chain", { chainId: 5 }],
    ["an issue time long ago", { issuedAt: new Date(0) }],
    ["an expiry in the past", { expirationTime: new Date(0) }],
    ["a not-before time in the future", { notBefore: new Date("2126-01-01T00:00:00Z") }],
  ])("is rejected with %s", async (_name, overrides) => {
    const wallet = createWallet();
    const { nonce, browserCookie } = await fetchNonce(rig);
    const { address } = wallet;
    const message = createTestSiweMessage({
      address,
      nonce,
      issuedAt: rig.clock.now(),
      ...overrides,
    });
    await expectRejected(await signSiwe(wallet, message), browserCookie);
  });

  test.each([
    ["422 missing missing", {}],
    ["422 missing", { message: "m" }],
    ["422 string_type string_type", { message: 1, signature: null }],
    ["422 string_too_long", { message: "m".repeat(4001), signature: "0x" }],
    ["422 string_too_long", { message: "m", signature: `0x${"0".repeat(19_999)}` }],
    ["422 model_attributes_type", "a text"],
    ["422 model_attributes_type", null],
    ["422 model_attributes_type", 5],
    ["401 INVALID_SIWE_MESSAGE", { message: "m", signature: "0x" }],
    ["401 INVALID_SIWE_MESSAGE", { message: "", signature: "" }],
  ])("gets %s for %j", async (expected, siwe) => {
    expect(summarizeResponse(await rig.call("POST", path, { body: { siwe } }))).toBe(expected);
  });

  test("is logged with the violated rule but without its content when it is rejected", async () => {
    const wallet = createWallet();
    const { nonce, browserCookie } = await fetchNonce(rig);
    const { address } = wallet;
    const issuedAt = rig.clock.now();
    const message = createTestSiweMessage({ address, nonce, issuedAt, domain: "evil.example" });
    await expectRejected(await signSiwe(wallet, message), browserCookie);
    const lines = rig.logLines.filter((text) => text.includes('"rule":"domain"'));
    expect(lines.length).toBeGreaterThan(0);
    for (const secret of [nonce, browserCookie.slice("sign-in=".length)]) {
      expect(rig.logLines.join("\n")).not.toContain(secret);
    }
  });
});
