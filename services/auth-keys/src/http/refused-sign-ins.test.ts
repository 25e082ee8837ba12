import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { AuditRecord, hashSecret, topics } from "@payment-links/contracts";
import { openPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRefusals } from "../domain/refusals.ts";
import { signInLinkLifeMs } from "../domain/sign-in-link.ts";
import { tellRefusals } from "../jobs/tell-refusals.ts";
import { makeAuthenticator } from "../testing/authenticator.ts";
import { type Rig, cookieOf, openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";
import { makeWallet, prepareSiwe, signInByWallet } from "../testing/siwe.ts";

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

const rig = useRig(openRig);

/** What an account's log has of refusals, in their order; a stop writes what is noted. */
const refusalsOf = async (accountId: string, of: Rig = rig) => {
  await of.service.stop();
  return of.pool.any(sql.type(Row)`
    SELECT action, actor_kind AS kind, actor_id AS "actorId", address, user_agent AS "userAgent",
      method, detail
    FROM audit_log WHERE account_id = ${accountId} AND action LIKE '%refused' ORDER BY seq
  `);
};

const countAll = () =>
  rig.pool.oneFirst(sql.type(Count)`
    SELECT (SELECT count(*) FROM audit_log)::int + (SELECT count(*) FROM refused_sign_ins)::int AS count
  `);

/** Somebody else signs what the wallet's owner would. */
const forge = async (wallet = makeWallet(), of: Rig = rig) => {
  const { browser, siwe } = await prepareSiwe(of, wallet);
  const signature = await makeWallet().signMessage({ message: siwe.message });
  const headers = { "user-agent": "Thief/1.0" };
  const body = { siwe: { ...siwe, signature } };
  const answer = await of.call("POST", path, { cookie: browser, headers, body });
  expect(refusalOf(answer)).toBe("401 INVALID_SIWE_MESSAGE");
  return body.siwe;
};

const entry = {
  action: "session.refused",
  kind: "visitor",
  actorId: null,
  address: expect.stringMatching(/127\.0\.0\.1$/),
};

describe("a sign-in that is refused stands in the log of the account to which it leads,", () => {
  test("by a wallet's address, with from where and why, and nothing of what was sent", async () => {
    const wallet = makeWallet();
    const { userId } = await signInByWallet(rig, wallet);
    const sent = await forge(wallet);
    const reason = "INVALID_SIWE_MESSAGE";
    expect(await refusalsOf(userId)).toEqual([
      {
        ...entry,
        userAgent: "Thief/1.0",
        method: "siwe",
        detail: { method: "siwe", reason, count: 1 },
      },
    ]);
    const told = await rig.pool.anyFirst(sql.type(Value)`
      SELECT value FROM outbox WHERE key = ${userId} AND topic = ${topics.audit}
    `);
    expect(told.map((value) => z.decode(AuditRecord, JSON.parse(value)).action)).toContain(
      "session.refused",
    );
    expect(told.join("")).not.toContain(sent.signature.slice(2, 40));
    expect(told.join("")).not.toContain("wants you to sign in");
  });

  test("by a sign-in link that is past its end; one that is used up leads to nobody", async () => {
    const { userId, token } = await rig.makeAccount();
    rig.clock.advance(signInLinkLifeMs);
    const late = await rig.call("POST", path, { body: { token } });
    expect(refusalOf(late)).toBe("401 INVALID_SIGN_IN_TOKEN");
    const form = new URLSearchParams({ link: token, confirmed: "yes" }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    expect((await rig.call("POST", `${path}/form`, { body: form, headers })).status).toBe(401);
    const detail = { method: "link", reason: "INVALID_SIGN_IN_TOKEN", count: 1 };
    expect(await refusalsOf(userId)).toMatchObject([
      { ...entry, detail },
      { ...entry, detail: { ...detail, count: 2 } },
    ]);
    const other = await rig.makeAccount();
    await rig.signIn(other.token);
    await rig.call("POST", path, { body: { token: other.token } });
    expect(await refusalsOf(other.userId)).toEqual([]);
    const { text } = await rig.pool.one(sql.type(z.object({ text: z.string() }))`
      SELECT string_agg(audit_log::text, '') AS text FROM audit_log
    `);
    expect(text).not.toContain(token);
    expect(text).not.toContain(hashSecret(token).toString("hex"));
  });

  test("and nobody's where it leads to none", async () => {
    const before = await countAll();
    await forge();
    await rig.call("POST", path, { body: { token: "nobody's" } });
    await rig.call("POST", path, { body: { siwe: { message: "no message", signature: "0x" } } });
    await refusalsOf("nobody");
    expect(await countAll()).toBe(before);
  });

  test("of a stranger who goes on and on: ten in an hour, then each power of ten (rule CALLER-23)", async () => {
    const wallet = makeWallet();
    const { userId } = await signInByWallet(rig, wallet);
    for (let count = 1; count <= 12; count += 1) await forge(wallet);
    const counts = async () => (await refusalsOf(userId)).map(({ detail }) => detail["count"]);
    const tenfold = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect(await counts()).toEqual(tenfold);
    for (let count = 13; count <= 101; count += 1) await forge(wallet);
    expect(await counts()).toEqual([...tenfold, 100]);
    rig.clock.advance(60 * 60_000);
    await forge(wallet);
    expect(await counts()).toEqual([...tenfold, 100, 1]);
  });

  // Else anybody could ask who has an account here, by how long the refusal takes.
  test("and is written only after its answer", async () => {
    const wallet = makeWallet();
    const { userId } = await signInByWallet(rig, wallet);
    const before = await countAll();
    await forge(wallet);
    expect(await countAll()).toBe(before);
    expect(await refusalsOf(userId)).toHaveLength(1);
  });

  test("of an account that is suspended: also no more than ten in an hour", async () => {
    const wallet = makeWallet();
    const { userId } = await signInByWallet(rig, wallet);
    await rig.call("POST", "/internal/accounts/suspend", { body: { userId } });
    for (let count = 1; count <= 12; count += 1) {
      const { browser, siwe } = await prepareSiwe(rig, wallet);
      const answer = await rig.call("POST", path, { cookie: browser, body: { siwe } });
      expect(refusalOf(answer)).toBe("403 ACCOUNT_SUSPENDED");
    }
    const told = await refusalsOf(userId);
    expect(told).toHaveLength(10);
    expect(told.at(-1)?.detail).toEqual({ method: "siwe", reason: "ACCOUNT_SUSPENDED", count: 10 });
  });
});

describe("a passkey's answer that is refused", () => {
  const origin = "https://console.example";
  let own: Rig;
  beforeAll(async () => {
    own = await openRig({ baseUrl: origin });
  });
  afterAll(() => own.close());

  test("stands in the log of the account whose passkey it names", async () => {
    const { userId, cookie } = await own.signUp();
    const authenticator = makeAuthenticator({ origin, rpId: "console.example" });
    const asked = await own.call("GET", "/console/api/passkeys/creation", { cookie });
    const passkey = authenticator.make({ challenge: String(asked.body["challenge"]) });
    const browser = `${cookie}; ${cookieOf(asked.headers)}`;
    const body = { name: "key", passkey };
    const added = await own.call("POST", "/console/api/passkeys", { cookie: browser, body });
    expect(added.status).toBe(201);
    const stale = authenticator.sign({ challenge: "A".repeat(43) });
    const refused = await own.call("POST", path, { body: { passkey: stale } });
    expect(refusalOf(refused)).toBe("401 INVALID_PASSKEY");
    expect(await refusalsOf(userId, own)).toMatchObject([
      { ...entry, method: "passkey", detail: { method: "passkey", reason: "INVALID_PASSKEY" } },
    ]);
  });
});

describe("a proof of presence that is refused", () => {
  test("stands in the log of the session's own account, and not in that of the other", async () => {
    const { userId, cookie } = await rig.signUp();
    const other = await rig.makeAccount();
    const body = { token: other.token };
    const refused = await rig.call("POST", `${path}/presence`, { cookie, body });
    expect(refusalOf(refused)).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(await refusalsOf(userId)).toMatchObject([
      {
        action: "session.presence_refused",
        kind: "session",
        actorId: expect.stringMatching(/^sess_/),
        method: "link",
        detail: { method: "link", reason: "REAUTHENTICATION_MISMATCH", count: 1 },
      },
    ]);
    expect(await refusalsOf(other.userId)).toEqual([]);
  });
});

describe("what is noted", () => {
  test("is written by a started service a second later, and told on the topic", async () => {
    const own = await openRig();
    try {
      await own.service.start();
      const wallet = makeWallet();
      const { userId } = await signInByWallet(own, wallet);
      await forge(wallet, own);
      await waitUntil("it is in the log", async () => {
        own.clock.advance(1_000);
        return (await own.readAudit(userId)).includes("session.refused");
      });
    } finally {
      await own.close();
    }
  });

  test("stays noted where it cannot be written", async () => {
    const { ground } = rig;
    const pool = await openPool({
      url: ground.databaseUrl,
      applicationName: "ended",
      connectionsMax: 1,
      log: ground.log,
    });
    await pool.end();
    const refusals = createRefusals();
    const link = await rig.call("POST", "/internal/sign-in-links", {
      body: { userId: (await rig.signUp()).userId },
    });
    const hash = hashSecret(tokenOf(link.body["signInUrl"]));
    const place = { address: null, userAgent: null, method: "link" };
    refusals.note({
      action: "session.refused",
      method: "link",
      claim: { by: "link", hash },
      at: rig.clock.now(),
      actor: { actor: { kind: "visitor", id: null, operator: null }, ...place },
      reason: "INVALID_SIGN_IN_TOKEN",
    });
    await expect(tellRefusals({ pool, refusals, wakeRelay: () => {} })).rejects.toThrow();
    expect(refusals.take()).toHaveLength(1);
  });
});
