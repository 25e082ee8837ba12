import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { nonceLifeMs } from "../domain/sign-in-attempt.ts";
import { cookieOf, openRig, refusalOf } from "../testing/open-rig.ts";
import {
  askNonce,
  makeWallet,
  prepareSiwe,
  signInByWallet,
  signSiwe,
  siweMessage,
} from "../testing/siwe.ts";

const path = "/console/api/session";
const Count = z.object({ count: z.int() });

const rig = useRig(openRig);

const countAccounts = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM accounts`);

describe("GET /console/api/session/nonce", () => {
  test("gives each call another nonce, and the browser a cookie to be known by", async () => {
    const answer = await rig.call("GET", `${path}/nonce`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ nonce: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("set-cookie")).toMatch(
      /^sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const cookie = cookieOf(answer.headers);
    const again = await askNonce(rig, cookie);
    expect(again.nonce).not.toBe(answer.body["nonce"]);
    expect(again.browser).toBe(cookie);
  });

  test("given a cookie that is none of ours, replaces it", async () => {
    for (const cookie of ["sign-in=", "sign-in=short", `sign-in=${"a".repeat(44)}`]) {
      expect((await askNonce(rig, cookie)).browser).toMatch(/^sign-in=[\w-]{43}$/);
    }
  });

  test("given an address in any case, answers a message that signs it in", async () => {
    const wallet = makeWallet();
    const address = wallet.address.toLowerCase();
    const answer = await rig.call("GET", `${path}/nonce?address=${address}`);
    const siwe = await signSiwe(wallet, String(answer.body["message"]));
    const cookie = cookieOf(answer.headers);
    const signedIn = await rig.call("POST", path, { cookie, body: { siwe } });
    expect(signedIn.status).toBe(200);
    for (const wrong of ["", "0x", `${address}0`, "x".repeat(101)]) {
      const refused = await rig.call("GET", `${path}/nonce?address=${wrong}`);
      expect(refused.status).toBe(422);
      expect(refused.headers.get("set-cookie")).toBeNull();
    }
  });

  test("is refused to another site", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const answer = await rig.call("GET", `${path}/nonce`, { headers });
    expect(refusalOf(answer)).toBe("403 CROSS_SITE_REQUEST");
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("under https binds the cookie to the host", async () => {
    const secure = await openRig({ baseUrl: "https://console.example" });
    try {
      expect((await askNonce(secure)).browser).toMatch(/^__Host-sign-in=/);
    } finally {
      await secure.close();
    }
  });
});

describe("POST /console/api/session with a Sign-In with Ethereum message", () => {
  test("the first time opens an account with no handle and no wallet, and tells of it", async () => {
    const wallet = makeWallet();
    const { browser, siwe } = await prepareSiwe(rig, wallet);
    const answer = await rig.call("POST", path, { cookie: browser, body: { siwe } });
    expect(answer.status).toBe(200);
    const { address } = wallet;
    const username = `${address.slice(0, 6)}…${address.slice(-4)}`;
    expect(answer.body).toMatchObject({ handle: null, username, isReady: false });
    const userId = String(answer.body["id"]);
    const cookie = cookieOf(answer.headers);
    expect((await rig.call("GET", path, { cookie })).body).toEqual(answer.body);
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

  test("the next time signs in to the same account", async () => {
    const wallet = makeWallet();
    const first = await signInByWallet(rig, wallet);
    const second = await signInByWallet(rig, wallet);
    expect(second.userId).toBe(first.userId);
    expect(second.cookie).not.toBe(first.cookie);
    expect(await rig.readEvents(first.userId)).toHaveLength(1);
  });

  test("ten first sign-ins of one address at once open one account", async () => {
    const wallet = makeWallet();
    const prepared = await Promise.all(Array.from({ length: 10 }, () => prepareSiwe(rig, wallet)));
    const before = await countAccounts();
    const answers = await Promise.all(
      prepared.map(({ browser, siwe }) =>
        rig.call("POST", path, { cookie: browser, body: { siwe } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ body }) => body["id"])).size).toBe(1);
    expect((await countAccounts()) - before).toBe(1);
  });

  test("a wallet typed in as a destination is no way to sign in (rule CALLER-12)", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = makeWallet();
    const tokens = await rig.call("GET", "/console/api/tokens", { cookie });
    const data = tokens.body["data"] as { id: string; token: { chain: { chainType: string } } }[];
    const token = data.find((candidate) => candidate.token.chain.chainType === "EVM");
    const body = { walletAddress: wallet.address, tokenId: token?.id };
    expect((await rig.call("POST", "/console/api/wallets", { cookie, body })).status).toBe(201);
    expect((await signInByWallet(rig, wallet)).userId).not.toBe(userId);
  });

  test("ends the session that the request carried", async () => {
    const former = await rig.signUp();
    const { browser, siwe } = await prepareSiwe(rig, makeWallet());
    const cookie = `${former.cookie}; ${browser}`;
    expect((await rig.call("POST", path, { cookie, body: { siwe } })).status).toBe(200);
    expect((await rig.call("GET", path, { cookie: former.cookie })).status).toBe(401);
  });
});

/** Refused: no session, no account, and a person who was signed in still is. */
const expectRefused = async (siwe: object, cookie: string) => {
  const before = await countAccounts();
  const former = await rig.signUp();
  const sent = `${former.cookie}; ${cookie}`;
  const answer = await rig.call("POST", path, { cookie: sent, body: { siwe } });
  expect(refusalOf(answer)).toBe("401 INVALID_SIWE_MESSAGE");
  expect(answer.headers.get("set-cookie")).toBeNull();
  expect((await rig.call("GET", path, { cookie: former.cookie })).status).toBe(200);
  expect(await countAccounts()).toBe(before + 1);
};

describe("a nonce (rule CALLER-11)", () => {
  test("is good once, in turn and at once", async () => {
    const wallet = makeWallet();
    const { browser, siwe } = await prepareSiwe(rig, wallet);
    const send = () => rig.call("POST", path, { cookie: browser, body: { siwe } });
    const answers = await Promise.all(Array.from({ length: 5 }, send));
    expect(answers.map(refusalOf).toSorted()).toEqual([
      "200",
      ...Array(4).fill("401 INVALID_SIWE_MESSAGE"),
    ]);
    await expectRefused(siwe, browser);
  });

  test("of two tabs of one browser, each signs in, in any order", async () => {
    const wallet = makeWallet();
    const first = await prepareSiwe(rig, wallet);
    const second = await prepareSiwe(rig, wallet, first.browser);
    for (const { siwe } of [second, first]) {
      const answer = await rig.call("POST", path, { cookie: first.browser, body: { siwe } });
      expect(answer.status).toBe(200);
    }
  });

  test("of another browser, or brought by none, is refused and stays good", async () => {
    const wallet = makeWallet();
    const { browser, siwe } = await prepareSiwe(rig, wallet);
    const stranger = await askNonce(rig);
    await expectRefused(siwe, stranger.browser);
    await expectRefused(siwe, "theme=dark");
    const answer = await rig.call("POST", path, { cookie: browser, body: { siwe } });
    expect(answer.status).toBe(200);
  });

  test("that nobody was given is refused", async () => {
    const wallet = makeWallet();
    const { browser } = await askNonce(rig);
    const nonce = "0123456789abcdef0123456789abcdef";
    const message = siweMessage({ address: wallet.address, nonce, issuedAt: rig.clock.now() });
    await expectRefused(await signSiwe(wallet, message), browser);
  });

  test("is good until the clock reaches five minutes, and no longer", async () => {
    const wallet = makeWallet();
    const inTime = await askNonce(rig);
    const late = await askNonce(rig);
    const sign = (nonce: string) =>
      signSiwe(wallet, siweMessage({ address: wallet.address, nonce, issuedAt: rig.clock.now() }));
    rig.clock.advance(nonceLifeMs - 1);
    const siwe = await sign(inTime.nonce);
    const answer = await rig.call("POST", path, { cookie: inTime.browser, body: { siwe } });
    expect(answer.status).toBe(200);
    rig.clock.advance(1);
    await expectRefused(await sign(late.nonce), late.browser);
  });

  test("of a refused message stays good for a right one", async () => {
    const wallet = makeWallet();
    const { browser, siwe } = await prepareSiwe(rig, wallet);
    const { signature } = await signSiwe(makeWallet(), siwe.message);
    await expectRefused({ ...siwe, signature }, browser);
    const answer = await rig.call("POST", path, { cookie: browser, body: { siwe } });
    expect(answer.status).toBe(200);
  });
});

describe("a message", () => {
  test.each([
    ["another domain", { domain: "evil.example" }],
    ["another URI", { uri: "https://evil.example" }],
    ["another chain", { chainId: 5 }],
    ["a time of issue long past", { issuedAt: new Date(0) }],
    ["an end that has passed", { expirationTime: new Date(0) }],
    ["a beginning to come", { notBefore: new Date("2126-01-01T00:00:00Z") }],
  ])("with %s is refused", async (_name, given) => {
    const wallet = makeWallet();
    const { nonce, browser } = await askNonce(rig);
    const { address } = wallet;
    const message = siweMessage({ address, nonce, issuedAt: rig.clock.now(), ...given });
    await expectRefused(await signSiwe(wallet, message), browser);
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
  ])("answers %s to %j", async (expected, siwe) => {
    expect(refusalOf(await rig.call("POST", path, { body: { siwe } }))).toBe(expected);
  });

  test("that is refused says by which rule in the log, and nothing of itself", async () => {
    const wallet = makeWallet();
    const { nonce, browser } = await askNonce(rig);
    const { address } = wallet;
    const issuedAt = rig.clock.now();
    const message = siweMessage({ address, nonce, issuedAt, domain: "evil.example" });
    await expectRefused(await signSiwe(wallet, message), browser);
    const lines = rig.logLines.filter((text) => text.includes('"rule":"domain"'));
    expect(lines.length).toBeGreaterThan(0);
    for (const secret of [nonce, browser.slice("sign-in=".length)]) {
      expect(rig.logLines.join("\n")).not.toContain(secret);
    }
  });
});
