import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { AuditRecord, hashSecret, topics } from "@payment-links/contracts";
import { connectPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRejectedSignIns } from "../domain/rejected-sign-ins.ts";
import { signInLinkLifetimeMs } from "../domain/sign-in-link.ts";
import { flushRejectedSignIns } from "../jobs/flush-rejected-sign-ins.ts";
import { createAuthenticator } from "../testing/authenticator.ts";
import {
  type Rig,
  getCookies,
  createRig,
  summarizeResponse,
  parseToken,
} from "../testing/create-rig.ts";
import { createWallet, prepareSiwe, signInWithWallet } from "../testing/siwe.ts";

const path = "/console/api/session";
const Row = z.object({
  action: z.string(),
  kind: z.string(),
  actorId: z.string().nullable(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  method: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
});
const Count = z.object({ count: z.int() });
const Value = z.object({ value: z.string() });

const rig = useRig(createRig);

/**
 * Returns the rejections in an account's audit log, in order. Stops the service first, which writes
 * all recorded attempts.
 */
const readRejections = async (accountId: string, targetRig: Rig = rig) => {
  await targetRig.service.stop();
  return targetRig.pool.any(sql.type(Row)`
    SELECT action, actor_kind AS kind, actor_id AS "actorId", address, user_agent AS "userAgent",
      method, detail
    FROM audit_log WHERE account_id = ${accountId} AND action LIKE '%refused' ORDER BY seq
  `);
};

const countRows = () =>
  rig.pool.oneFirst(sql.type(Count)`
    SELECT (SELECT count(*) FROM audit_log)::int + (SELECT count(*) FROM refused_sign_ins)::int AS count
  `);

/** Sends a Sign-In with Ethereum message that another key has signed. */
const sendForgedSignIn = async (wallet = createWallet(), targetRig: Rig = rig) => {
  const { browserCookie, siwe } = await prepareSiwe(targetRig, wallet);
  const signature = await createWallet().signMessage({ message: siwe.message });
  const headers = { "user-agent": "Thief/1.0" };
  const body = { siwe: { ...siwe, signature } };
  const response = await targetRig.call("POST", path, { cookie: browserCookie, headers, body });
  expect(summarizeResponse(response)).toBe("401 INVALID_SIWE_MESSAGE");
  return body.siwe;
};

const expectedEntry = {
  action: "session.refused",
  kind: "visitor",
  actorId: null,
  address: expect.stringMatching(/127\.0\.0\.1$/),
};

describe("a rejected sign-in", () => {
  test("is logged for the account of a wallet's address, with its origin and reason but without the request's content", async () => {
    const wallet = createWallet();
    const { userId } = await signInWithWallet(rig, wallet);
    const sentSiwe = await sendForgedSignIn(wallet);
    const reason = "INVALID_SIWE_MESSAGE";
    expect(await readRejections(userId)).toEqual([
      {
        ...expectedEntry,
        userAgent: "Thief/1.0",
        method: "siwe",
        detail: { method: "siwe", reason, count: 1 },
      },
    ]);
    const publishedValues = await rig.pool.anyFirst(sql.type(Value)`
      SELECT value FROM outbox WHERE key = ${userId} AND topic = ${topics.audit}
    `);
    expect(
      publishedValues.map((value) => z.decode(AuditRecord, JSON.parse(value)).action),
    ).toContain("session.refused");
    expect(publishedValues.join("")).not.toContain(sentSiwe.signature.slice(2, 40));
    expect(publishedValues.join("")).not.toContain("wants you to sign in");
  });

  test("is logged for the account of an expired sign-in link, but not for that of a used one", async () => {
    const { userId, token } = await rig.createAccount();
    rig.clock.advance(signInLinkLifetimeMs);
    const lateResponse = await rig.call("POST", path, { body: { token } });
    expect(summarizeResponse(lateResponse)).toBe("401 INVALID_SIGN_IN_TOKEN");
    const form = new URLSearchParams({ link: token, confirmed: "yes" }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    expect((await rig.call("POST", `${path}/form`, { body: form, headers })).status).toBe(401);
    const detail = { method: "link", reason: "INVALID_SIGN_IN_TOKEN", count: 1 };
    expect(await readRejections(userId)).toMatchObject([
      { ...expectedEntry, detail },
      { ...expectedEntry, detail: { ...detail, count: 2 } },
    ]);
    const otherAccount = await rig.createAccount();
    await rig.signIn(otherAccount.token);
    await rig.call("POST", path, { body: { token: otherAccount.token } });
    expect(await readRejections(otherAccount.userId)).toEqual([]);
    const { text } = await rig.pool.one(sql.type(z.object({ text: z.string() }))`
      SELECT string_agg(audit_log::text, '') AS text FROM audit_log
    `);
    expect(text).not.toContain(token);
    expect(text).not.toContain(hashSecret(token).toString("hex"));
  });

  test("is not logged if it belongs to no account", async () => {
    const rowsBefore = await countRows();
    await sendForgedSignIn();
    await rig.call("POST", path, { body: { token: "nobody's" } });
    await rig.call("POST", path, { body: { siwe: { message: "no message", signature: "0x" } } });
    await readRejections("nobody");
    expect(await countRows()).toBe(rowsBefore);
  });

  test("is logged up to ten times per hour, and then at the 100th, 1,000th time and so on (rule CALLER-23)", async () => {
    const wallet = createWallet();
    const { userId } = await signInWithWallet(rig, wallet);
    for (let count = 1; count <= 12; count += 1) await sendForgedSignIn(wallet);
    const readCounts = async () =>
      (await readRejections(userId)).map(({ detail }) => detail["count"]);
    const firstTen = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect(await readCounts()).toEqual(firstTen);
    for (let count = 13; count <= 101; count += 1) await sendForgedSignIn(wallet);
    expect(await readCounts()).toEqual([...firstTen, 100]);
    rig.clock.advance(60 * 60_000);
    await sendForgedSignIn(wallet);
    expect(await readCounts()).toEqual([...firstTen, 100, 1]);
  });

  // Otherwise the response time would reveal whether an account exists.
  test("is logged only after its response", async () => {
    const wallet = createWallet();
    const { userId } = await signInWithWallet(rig, wallet);
    const rowsBefore = await countRows();
    await sendForgedSignIn(wallet);
    expect(await countRows()).toBe(rowsBefore);
    expect(await readRejections(userId)).toHaveLength(1);
  });

  test("is also logged at most ten times per hour for a suspended account", async () => {
    const wallet = createWallet();
    const { userId } = await signInWithWallet(rig, wallet);
    await rig.call("POST", "/internal/accounts/suspend", { body: { userId } });
    for (let count = 1; count <= 12; count += 1) {
      const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
      const response = await rig.call("POST", path, { cookie: browserCookie, body: { siwe } });
      expect(summarizeResponse(response)).toBe("403 ACCOUNT_SUSPENDED");
    }
    const rejections = await readRejections(userId);
    expect(rejections).toHaveLength(10);
    expect(rejections.at(-1)?.detail).toEqual({
      method: "siwe",
      reason: "ACCOUNT_SUSPENDED",
      count: 10,
    });
  });
});

describe("a rejected passkey", () => {
  const origin = "https://console.example";
  let ownRig: Rig;
  beforeAll(async () => {
    ownRig = await createRig({ baseUrl: origin });
  });
  afterAll(() => ownRig.close());

  test("is logged for the account that owns the passkey", async () => {
    const { userId, cookie } = await ownRig.signUp();
    const authenticator = createAuthenticator({ origin, rpId: "console.example" });
    const creationResponse = await ownRig.call("GET", "/console/api/passkeys/creation", { cookie });
    const passkey = authenticator.createCredential({
      challenge: String(creationResponse.body["challenge"]),
    });
    const browser = `${cookie}; ${getCookies(creationResponse.headers)}`;
    const body = { name: "key", passkey };
    const addResponse = await ownRig.call("POST", "/console/api/passkeys", {
      cookie: browser,
      body,
    });
    expect(addResponse.status).toBe(201);
    const staleAssertion = authenticator.sign({ challenge: "A".repeat(43) });
    const rejected = await ownRig.call("POST", path, { body: { passkey: staleAssertion } });
    expect(summarizeResponse(rejected)).toBe("401 INVALID_PASSKEY");
    expect(await readRejections(userId, ownRig)).toMatchObject([
      {
        ...expectedEntry,
        method: "passkey",
        detail: { method: "passkey", reason: "INVALID_PASSKEY" },
      },
    ]);
  });
});

describe("a rejected proof of presence", () => {
  test("is logged for the session's own account, and not for the other one", async () => {
    const { userId, cookie } = await rig.signUp();
    const otherAccount = await rig.createAccount();
    const body = { token: otherAccount.token };
    const rejected = await rig.call("POST", `${path}/presence`, { cookie, body });
    expect(summarizeResponse(rejected)).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(await readRejections(userId)).toMatchObject([
      {
        action: "session.presence_refused",
        kind: "session",
        actorId: expect.stringMatching(/^sess_/),
        method: "link",
        detail: { method: "link", reason: "REAUTHENTICATION_MISMATCH", count: 1 },
      },
    ]);
    expect(await readRejections(otherAccount.userId)).toEqual([]);
  });
});

describe("a recorded rejection", () => {
  test("is written and published by a started service within a second", async () => {
    const ownRig = await createRig();
    try {
      await ownRig.service.start();
      const wallet = createWallet();
      const { userId } = await signInWithWallet(ownRig, wallet);
      await sendForgedSignIn(wallet, ownRig);
      await waitUntil("the rejection is in the audit log", async () => {
        ownRig.clock.advance(1_000);
        return (await ownRig.readAudit(userId)).includes("session.refused");
      });
    } finally {
      await ownRig.close();
    }
  });

  test("is kept if it cannot be written", async () => {
    const { context } = rig;
    const pool = await connectPool({
      url: context.databaseUrl,
      applicationName: "ended",
      connectionsMax: 1,
      log: context.log,
    });
    await pool.end();
    const rejectedSignIns = createRejectedSignIns();
    const signInLink = await rig.call("POST", "/internal/sign-in-links", {
      body: { userId: (await rig.signUp()).userId },
    });
    const hash = hashSecret(parseToken(signInLink.body["signInUrl"]));
    const actorFields = { address: null, userAgent: null, method: "link" };
    rejectedSignIns.record({
      action: "session.refused",
      method: "link",
      claimedAccount: { by: "link", hash },
      at: rig.clock.now(),
      actor: { actor: { kind: "visitor", id: null, operator: null }, ...actorFields },
      reason: "INVALID_SIGN_IN_TOKEN",
    });
    await expect(
      flushRejectedSignIns({ pool, rejectedSignIns, wakeRelay: () => {} }).run(),
    ).rejects.toThrow();
    expect(rejectedSignIns.drain()).toHaveLength(1);
  });
});
