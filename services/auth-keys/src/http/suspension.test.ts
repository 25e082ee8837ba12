import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse, parseToken } from "../testing/create-rig.ts";
import { createWallet, prepareSiwe } from "../testing/siwe.ts";

const rig = useRig(createRig);

const sessionPath = "/console/api/session";
const accountSuspended = "403 ACCOUNT_SUSPENDED";

const requestAccountAction = (action: "suspend" | "resume" | "revoke-everything", body: object) =>
  rig.call("POST", `/internal/accounts/${action}`, { body });

const createKey = async (cookie: string): Promise<string> => {
  const body = { name: "shop", scopes: ["payment_link:read"] };
  return String((await rig.call("POST", "/console/api/api-keys", { cookie, body })).body["key"]);
};

const createSignInLink = async (userId: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return parseToken(body["signInUrl"]);
};

const linkWallet = async (cookie: string) => {
  const wallet = createWallet();
  const { browserCookie, siwe } = await prepareSiwe(rig, wallet, cookie);
  const linkOptions = { cookie: `${cookie}; ${browserCookie}`, body: { siwe } };
  expect((await rig.call("POST", "/console/api/identities", linkOptions)).status).toBe(201);
  return wallet;
};

const signInWithWallet = async (wallet: ReturnType<typeof createWallet>) => {
  const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
  return rig.call("POST", sessionPath, { cookie: browserCookie, body: { siwe } });
};

const getSessionStatus = async (cookie: string) =>
  summarizeResponse(await rig.call("GET", sessionPath, { cookie }));

describe("POST /internal/accounts/suspend (rule CALLER-17)", () => {
  test("rejects the account's sessions, sign-ins and links, and publishes the suspension", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "stopped" });
    const wallet = await linkWallet(cookie);
    const key = await createKey(cookie);
    const linkToken = await createSignInLink(userId);
    const response = await requestAccountAction("suspend", {
      handle: "stopped",
      reason: "a stolen laptop",
    });
    expect(response.body).toEqual({ userId, handle: "stopped", isSuspended: true });

    expect(await getSessionStatus(cookie)).toBe(accountSuspended);
    const body = { bio: "mine" };
    const patchResponse = await rig.call("PATCH", "/console/api/account", { cookie, body });
    expect(summarizeResponse(patchResponse)).toBe(accountSuspended);
    expect(summarizeResponse(await signInWithWallet(wallet))).toBe(accountSuspended);
    const oldLinkResponse = await rig.call("POST", sessionPath, { body: { token: linkToken } });
    expect(summarizeResponse(oldLinkResponse)).toBe("401 INVALID_SIGN_IN_TOKEN");
    const token = await createSignInLink(userId);
    for (const path of [`${sessionPath}/link`, sessionPath]) {
      expect(summarizeResponse(await rig.call("POST", path, { body: { token } }))).toBe(
        accountSuspended,
      );
    }
    for (const [kind, secret] of [
      ["api-key", key],
      ["session", cookie.slice("session=".length)],
    ] as const) {
      const introspection = await rig.introspect(kind, secret);
      expect(introspection).toMatchObject({
        found: true,
        account: { id: userId, isSuspended: true },
      });
    }
    const events = await rig.readEvents(userId);
    expect(events.at(-1)).toMatchObject({ type: "account.updated", data: { isSuspended: true } });
    expect(await rig.readAudit(userId)).toContain("account.suspended");
  });

  test("changes nothing if the account is already suspended", async () => {
    const { userId } = await rig.signUp();
    await requestAccountAction("suspend", { userId });
    const events = await rig.readEvents(userId);
    expect((await requestAccountAction("suspend", { userId })).status).toBe(200);
    expect(await rig.readEvents(userId)).toEqual(events);
  });
});

describe("POST /internal/accounts/resume (rule CALLER-17)", () => {
  test("lets keys and sign-ins work again, but no earlier session", async () => {
    const { userId, cookie } = await rig.signUp();
    const key = await createKey(cookie);
    await requestAccountAction("suspend", { userId });
    expect((await requestAccountAction("resume", { userId })).body).toMatchObject({
      isSuspended: false,
    });
    expect(await getSessionStatus(cookie)).toBe("401 UNAUTHENTICATED");
    expect((await rig.introspect("api-key", key))["account"]).toMatchObject({ isSuspended: false });
    expect(await getSessionStatus(await rig.signIn(await createSignInLink(userId)))).toBe("200");
    const events = await rig.readEvents(userId);
    expect(events.at(-1)).toMatchObject({ type: "account.updated", data: { isSuspended: false } });
    const auditActions = await rig.readAudit(userId);
    expect(auditActions).toContain("account.resumed");
    expect(auditActions).toContain("session.revoked");
  });

  test("ends no session of an account that is not suspended", async () => {
    const { userId, cookie } = await rig.signUp();
    expect((await requestAccountAction("resume", { userId })).status).toBe(200);
    expect(await getSessionStatus(cookie)).toBe("200");
  });
});

describe("POST /internal/accounts/revoke-everything (rule CALLER-17)", () => {
  test("revokes keys, sessions, links and identities, each with an entry in the audit log", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = await linkWallet(cookie);
    const key = await createKey(cookie);
    const token = await createSignInLink(userId);
    const response = await requestAccountAction("revoke-everything", { userId });
    const revokedCounts = { apiKeys: 1, identities: 1, passkeys: 0, sessions: 1, signInLinks: 1 };
    expect(response.body).toEqual({ userId, ...revokedCounts });
    expect(await rig.introspect("api-key", key)).toEqual({ found: false });
    expect(await getSessionStatus(cookie)).toBe("401 UNAUTHENTICATED");
    const redeemResponse = await rig.call("POST", sessionPath, { body: { token } });
    expect(summarizeResponse(redeemResponse)).toBe("401 INVALID_SIGN_IN_TOKEN");
    // The wallet is now an unknown identity, so signing in with it creates a new account.
    expect((await signInWithWallet(wallet)).body["id"]).not.toBe(userId);
    const auditActions = ["api_key.revoked", "identity.unlinked", "session.revoked"];
    expect((await rig.readAudit(userId)).slice(-4).toSorted()).toEqual(
      [...auditActions, "account.credentials_revoked"].toSorted(),
    );
    expect(await getSessionStatus(await rig.signIn(await createSignInLink(userId)))).toBe("200");
  });

  test("also revokes keys that concurrent requests create", async () => {
    const { userId, cookie } = await rig.signUp();
    const createTenKeys = () => Promise.all(Array.from({ length: 10 }, () => createKey(cookie)));
    const earlyKeys = createTenKeys();
    const revocation = requestAccountAction("revoke-everything", { userId });
    const lateKeys = createTenKeys();
    expect((await revocation).status).toBe(200);
    const keys = [...(await earlyKeys), ...(await lateKeys)].filter((key) => key !== "undefined");
    for (const key of keys) expect(await rig.introspect("api-key", key)).toEqual({ found: false });
  });
});

test.each(["suspend", "resume", "revoke-everything"] as const)(
  "%s requires the handle or id of an existing account",
  async (action) => {
    expect(summarizeResponse(await requestAccountAction(action, {}))).toBe("422 missing");
    expect(summarizeResponse(await requestAccountAction(action, { handle: "nobody_here" }))).toBe(
      "404 NOT_FOUND",
    );
    expect(summarizeResponse(await requestAccountAction(action, { userId: "user_none" }))).toBe(
      "404 NOT_FOUND",
    );
  },
);
