import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";
import { makeWallet, prepareSiwe } from "../testing/siwe.ts";

const rig = useRig(openRig);

const session = "/console/api/session";
const suspended = "403 ACCOUNT_SUSPENDED";

const order = (act: "suspend" | "resume" | "revoke-everything", body: object) =>
  rig.call("POST", `/internal/accounts/${act}`, { body });

const makeKey = async (cookie: string): Promise<string> => {
  const body = { name: "shop", scopes: ["payment_link:read"] };
  return String((await rig.call("POST", "/console/api/api-keys", { cookie, body })).body["key"]);
};

const makeLink = async (userId: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return tokenOf(body["signInUrl"]);
};

const linkWallet = async (cookie: string) => {
  const wallet = makeWallet();
  const { browser, siwe } = await prepareSiwe(rig, wallet, cookie);
  const both = { cookie: `${cookie}; ${browser}`, body: { siwe } };
  expect((await rig.call("POST", "/console/api/identities", both)).status).toBe(201);
  return wallet;
};

const signInBy = async (wallet: ReturnType<typeof makeWallet>) => {
  const { browser, siwe } = await prepareSiwe(rig, wallet);
  return rig.call("POST", session, { cookie: browser, body: { siwe } });
};

const whoIs = async (cookie: string) => refusalOf(await rig.call("GET", session, { cookie }));

describe("POST /internal/accounts/suspend (rule CALLER-17)", () => {
  test("refuses its sessions, every way in and its links, and tells the services", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "stopped" });
    const wallet = await linkWallet(cookie);
    const key = await makeKey(cookie);
    const before = await makeLink(userId);
    const answer = await order("suspend", { handle: "stopped", reason: "a stolen laptop" });
    expect(answer.body).toEqual({ userId, handle: "stopped", isSuspended: true });

    expect(await whoIs(cookie)).toBe(suspended);
    const body = { bio: "mine" };
    const patch = await rig.call("PATCH", "/console/api/account", { cookie, body });
    expect(refusalOf(patch)).toBe(suspended);
    expect(refusalOf(await signInBy(wallet))).toBe(suspended);
    const old = await rig.call("POST", session, { body: { token: before } });
    expect(refusalOf(old)).toBe("401 INVALID_SIGN_IN_TOKEN");
    const token = await makeLink(userId);
    for (const path of [`${session}/link`, session]) {
      expect(refusalOf(await rig.call("POST", path, { body: { token } }))).toBe(suspended);
    }
    for (const [kind, secret] of [
      ["api-key", key],
      ["session", cookie.slice("session=".length)],
    ] as const) {
      const told = await rig.introspect(kind, secret);
      expect(told).toMatchObject({ found: true, account: { id: userId, isSuspended: true } });
    }
    const events = await rig.readEvents(userId);
    expect(events.at(-1)).toMatchObject({ type: "account.updated", data: { isSuspended: true } });
    expect(await rig.readAudit(userId)).toContain("account.suspended");
  });

  test("twice changes nothing the second time", async () => {
    const { userId } = await rig.signUp();
    await order("suspend", { userId });
    const events = await rig.readEvents(userId);
    expect((await order("suspend", { userId })).status).toBe(200);
    expect(await rig.readEvents(userId)).toEqual(events);
  });
});

describe("POST /internal/accounts/resume (rule CALLER-17)", () => {
  test("lets keys and sign-ins work again, but no session from before", async () => {
    const { userId, cookie } = await rig.signUp();
    const key = await makeKey(cookie);
    await order("suspend", { userId });
    expect((await order("resume", { userId })).body).toMatchObject({ isSuspended: false });
    expect(await whoIs(cookie)).toBe("401 UNAUTHENTICATED");
    expect((await rig.introspect("api-key", key))["account"]).toMatchObject({ isSuspended: false });
    expect(await whoIs(await rig.signIn(await makeLink(userId)))).toBe("200");
    const events = await rig.readEvents(userId);
    expect(events.at(-1)).toMatchObject({ type: "account.updated", data: { isSuspended: false } });
    const audit = await rig.readAudit(userId);
    expect(audit).toContain("account.resumed");
    expect(audit).toContain("session.revoked");
  });

  test("of an account that is not suspended ends no session", async () => {
    const { userId, cookie } = await rig.signUp();
    expect((await order("resume", { userId })).status).toBe(200);
    expect(await whoIs(cookie)).toBe("200");
  });
});

describe("POST /internal/accounts/revoke-everything (rule CALLER-17)", () => {
  test("takes away keys, sessions, links and identities, each told in the audit log", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = await linkWallet(cookie);
    const key = await makeKey(cookie);
    const token = await makeLink(userId);
    const answer = await order("revoke-everything", { userId });
    const taken = { apiKeys: 1, identities: 1, passkeys: 0, sessions: 1, signInLinks: 1 };
    expect(answer.body).toEqual({ userId, ...taken });
    expect(await rig.introspect("api-key", key)).toEqual({ found: false });
    expect(await whoIs(cookie)).toBe("401 UNAUTHENTICATED");
    const redeemed = await rig.call("POST", session, { body: { token } });
    expect(refusalOf(redeemed)).toBe("401 INVALID_SIGN_IN_TOKEN");
    // That wallet is a stranger's now, with a new account.
    expect((await signInBy(wallet)).body["id"]).not.toBe(userId);
    const deeds = ["api_key.revoked", "identity.unlinked", "session.revoked"];
    expect((await rig.readAudit(userId)).slice(-4).toSorted()).toEqual(
      [...deeds, "account.credentials_revoked"].toSorted(),
    );
    expect(await whoIs(await rig.signIn(await makeLink(userId)))).toBe("200");
  });

  test("leaves nothing to whoever goes on asking meanwhile", async () => {
    const { userId, cookie } = await rig.signUp();
    const makeTen = () => Promise.all(Array.from({ length: 10 }, () => makeKey(cookie)));
    const early = makeTen();
    const revoked = order("revoke-everything", { userId });
    const late = makeTen();
    expect((await revoked).status).toBe(200);
    const keys = [...(await early), ...(await late)].filter((key) => key !== "undefined");
    for (const key of keys) expect(await rig.introspect("api-key", key)).toEqual({ found: false });
  });
});

test.each(["suspend", "resume", "revoke-everything"] as const)(
  "%s asks for a handle or an id that somebody has",
  async (act) => {
    expect(refusalOf(await order(act, {}))).toBe("422 missing");
    expect(refusalOf(await order(act, { handle: "nobody_here" }))).toBe("404 NOT_FOUND");
    expect(refusalOf(await order(act, { userId: "user_none" }))).toBe("404 NOT_FOUND");
  },
);
