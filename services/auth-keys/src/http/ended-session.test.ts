import { describe, expect, test } from "@jest/globals";
import { hashSecret } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { lockAccount } from "../store/accounts.ts";
import {
  deleteSession,
  deleteSessionsOfAccount,
  lockCallerAccount,
  renewSession,
} from "../store/sessions.ts";
import { createAuthenticator } from "../testing/authenticator.ts";
import { getCookies, createRig, summarizeResponse, parseToken } from "../testing/create-rig.ts";

const baseUrl = "https://console.example";

const rig = useRig(() => createRig({ baseUrl }));

const apiPrefix = "/console/api";

type CallResult = ReturnType<typeof rig.call>;

const addPasskey = async (cookie: string): Promise<string> => {
  const creationResponse = await rig.call("GET", `${apiPrefix}/passkeys/creation`, { cookie });
  const authenticator = createAuthenticator({ origin: baseUrl, rpId: "console.example" });
  const passkey = authenticator.createCredential({
    challenge: String(creationResponse.body["challenge"]),
  });
  const { body } = await rig.call("POST", `${apiPrefix}/passkeys`, {
    cookie: `${cookie}; ${getCookies(creationResponse.headers)}`,
    body: { name: "key", passkey },
  });
  return String(body["id"]);
};

/** Creates a user with a passkey, a wallet, an active and an inactive API key. */
const createOwner = async () => {
  const { cookie, userId } = await rig.signUp();
  const create = async (path: string, body: object) =>
    (await rig.call("POST", `${apiPrefix}/${path}`, { cookie, body })).body;
  const key = { name: "shop", scopes: ["payment_link:read"] };
  const activeKey = await create("api-keys", key);
  const inactiveKey = await create("api-keys", key);
  const body = { active: false };
  await rig.call("PATCH", `${apiPrefix}/api-keys/${String(inactiveKey["id"])}`, { cookie, body });
  const wallet = await create("wallets", {
    walletAddress: `0x${"1".repeat(40)}`,
    tokenId: "usdc-base",
  });
  const passkeyId = await addPasskey(cookie);
  return { cookie, userId, activeKey, inactiveKey, passkeyId, walletId: String(wallet["id"]) };
};
type Owner = Awaited<ReturnType<typeof createOwner>>;

/**
 * Makes a call while another transaction holds locks. Runs `whileWaiting` in that transaction as
 * soon as the call waits for a lock or has its response.
 */
const callWhileLocked = async (
  acquireLocks: (tx: Transaction) => Promise<unknown>,
  call: () => CallResult,
  whileWaiting: (tx: Transaction) => Promise<unknown>,
) => {
  const { pendingResponse } = await rig.pool.transaction(async (tx) => {
    await acquireLocks(tx);
    let hasResponse = false;
    const pendingResponse = call().finally(() => (hasResponse = true));
    const isWaitingOrDone = async () => hasResponse || (await countLockWaits(tx)) > 0;
    await waitUntil("the call waits for a lock or has its response", isWaitingOrDone);
    await whileWaiting(tx);
    return { pendingResponse };
  });
  return pendingResponse;
};

type ChangeCase = [string, string, (owner: Owner) => string, object | undefined];

const changeCases: ChangeCase[] = [
  [
    "activates a key",
    "PATCH",
    ({ inactiveKey }) => `api-keys/${String(inactiveKey["id"])}`,
    { active: true },
  ],
  ["limits a key", "PATCH", ({ activeKey }) => `api-keys/${String(activeKey["id"])}`, { burst: 1 }],
  ["rotates a key", "POST", ({ activeKey }) => `api-keys/${String(activeKey["id"])}/rotate`, {}],
  ["creates a key", "POST", () => "api-keys", { name: "more", scopes: ["payment_link:create"] }],
  ["renames a passkey", "PATCH", ({ passkeyId }) => `passkeys/${passkeyId}`, { name: "mine" }],
  ["changes the profile", "PATCH", () => "account", { bio: "mine" }],
  [
    "adds a wallet",
    "POST",
    () => "wallets",
    { walletAddress: `0x${"2".repeat(40)}`, tokenId: "usdc-base" },
  ],
  ["changes a wallet", "PATCH", ({ walletId }) => `wallets/${walletId}`, { isDefault: false }],
  ["deletes a wallet", "DELETE", ({ walletId }) => `wallets/${walletId}`, undefined],
  ["ends other sessions", "DELETE", () => "sessions", undefined],
];

describe("a call whose session ends after authentication", () => {
  test.each(changeCases)("is rejected: %s", async (_name, method, getPath, body) => {
    const owner = await createOwner();
    const { cookie, inactiveKey, userId } = owner;
    const auditBefore = await rig.readAudit(userId);
    const response = await callWhileLocked(
      (tx) => lockAccount(tx, userId),
      () => rig.call(method, `${apiPrefix}/${getPath(owner)}`, { cookie, body }),
      (tx) => deleteSessionsOfAccount(tx, userId),
    );
    expect(summarizeResponse(response)).toBe("401 UNAUTHENTICATED");
    expect(await rig.readAudit(userId)).toEqual(auditBefore);
    expect(await rig.introspect("api-key", String(inactiveKey["key"]))).toEqual({ found: false });
  });
});

/** Returns the caller of a cookie's session, as a route handler receives it. */
const getCaller = async ({ cookie, userId }: Owner) => {
  const { body } = await rig.call("GET", `${apiPrefix}/sessions`, { cookie });
  const sessions = body["data"] as { id: string; isCurrent: boolean }[];
  const id = sessions.find(({ isCurrent }) => isCurrent)?.id ?? "";
  return { account: { id: userId }, credential: { id } };
};

const createSignInLink = async (userId: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return parseToken(body["signInUrl"]);
};

type SessionEndCase = [
  string,
  string,
  (owner: Owner, sessionId: string) => Promise<() => CallResult>,
];
const sessionEndCases: SessionEndCase[] = [
  [
    "signing out",
    "204",
    async ({ cookie }) =>
      () =>
        rig.call("DELETE", `${apiPrefix}/session`, { cookie }),
  ],
  [
    "ending it from another session",
    "204",
    async ({ userId }, sessionId) => {
      const cookie = await rig.signIn(await createSignInLink(userId));
      return () => rig.call("DELETE", `${apiPrefix}/sessions/${sessionId}`, { cookie });
    },
  ],
  [
    "signing in to another account",
    "200",
    async ({ cookie }) => {
      const { token } = await rig.createAccount();
      return () => rig.call("POST", `${apiPrefix}/session`, { cookie, body: { token } });
    },
  ],
];

describe("the end of a session", () => {
  test.each(sessionEndCases)(
    "by %s waits for the session's own pending change",
    async (_name, status, prepareEnd) => {
      const owner = await createOwner();
      const caller = await getCaller(owner);
      const endSession = await prepareEnd(owner, caller.credential.id);
      const events: string[] = [];
      await callWhileLocked(
        (tx) => lockCallerAccount(tx, caller),
        async () => {
          const response = await endSession();
          events.push(summarizeResponse(response));
          return response;
        },
        async () => events.push("the change"),
      );
      expect(events).toEqual(["the change", status]);
      const { cookie } = owner;
      expect((await rig.call("GET", `${apiPrefix}/session`, { cookie })).status).toBe(401);
    },
  );

  test("by signing out succeeds even if a proof of presence renews the cookie concurrently", async () => {
    const owner = await createOwner();
    const caller = await getCaller(owner);
    const { cookie } = owner;
    const hash = hashSecret("the next cookie");
    const otherHashes = {
      "links-api": hashSecret("next"),
      "webhook-dispatcher": hashSecret("next"),
    };
    const hashes = { "auth-keys": hash, ...otherHashes };
    await callWhileLocked(
      async (tx) => {
        await lockCallerAccount(tx, caller);
        await renewSession(tx, { id: caller.credential.id, hashes, provenAt: rig.clock.now() });
      },
      () => rig.call("DELETE", `${apiPrefix}/session`, { cookie }),
      async () => {},
    );
    expect(await rig.introspect("session", "the next cookie")).toEqual({ found: false });
    expect(await rig.readAudit(owner.userId)).toContain("session.ended");
  });

  test("rejects a concurrent change by the same session", async () => {
    const owner = await createOwner();
    const { account, credential } = await getCaller(owner);
    const auditBefore = await rig.readAudit(account.id);
    const { cookie } = owner;
    const response = await callWhileLocked(
      (tx) => deleteSession(tx, { id: credential.id, accountId: account.id }),
      () => rig.call("PATCH", `${apiPrefix}/account`, { cookie, body: { bio: "mine" } }),
      async () => {},
    );
    expect(summarizeResponse(response)).toBe("401 UNAUTHENTICATED");
    expect(await rig.readAudit(account.id)).toEqual(auditBefore);
  });
});

test("deactivating a key does not wait for other changes of the account", async () => {
  const owner = await createOwner();
  const { cookie, activeKey, userId } = owner;
  const path = `${apiPrefix}/api-keys/${String(activeKey["id"])}`;
  const events: string[] = [];
  const deactivateKey = async () => {
    const response = await rig.call("PATCH", path, { cookie, body: { active: false } });
    events.push(summarizeResponse(response));
    return response;
  };
  await callWhileLocked(
    (tx) => lockAccount(tx, userId),
    deactivateKey,
    async () => events.push("the other change"),
  );
  expect(events).toEqual(["200", "the other change"]);
  expect(await rig.introspect("api-key", String(activeKey["key"]))).toEqual({ found: false });
});
