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
  lockCallersAccount,
  renewSession,
} from "../store/sessions.ts";
import { makeAuthenticator } from "../testing/authenticator.ts";
import { cookieOf, openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";

const baseUrl = "https://console.example";

const rig = useRig(() => openRig({ baseUrl }));

const api = "/console/api";

type Call = ReturnType<typeof rig.call>;

const addPasskey = async (cookie: string): Promise<string> => {
  const asked = await rig.call("GET", `${api}/passkeys/creation`, { cookie });
  const authenticator = makeAuthenticator({ origin: baseUrl, rpId: "console.example" });
  const passkey = authenticator.make({ challenge: String(asked.body["challenge"]) });
  const { body } = await rig.call("POST", `${api}/passkeys`, {
    cookie: `${cookie}; ${cookieOf(asked.headers)}`,
    body: { name: "key", passkey },
  });
  return String(body["id"]);
};

/** Somebody with a passkey, a wallet and two keys, of which the second one is switched off. */
const openOwner = async () => {
  const { cookie, userId } = await rig.signUp();
  const post = async (path: string, body: object) =>
    (await rig.call("POST", `${api}/${path}`, { cookie, body })).body;
  const key = { name: "shop", scopes: ["payment_link:read"] };
  const on = await post("api-keys", key);
  const off = await post("api-keys", key);
  const body = { active: false };
  await rig.call("PATCH", `${api}/api-keys/${String(off["id"])}`, { cookie, body });
  const wallet = await post("wallets", {
    walletAddress: `0x${"1".repeat(40)}`,
    tokenId: "usdc-base",
  });
  const passkeyId = await addPasskey(cookie);
  return { cookie, userId, on, off, passkeyId, walletId: String(wallet["id"]) };
};
type Owner = Awaited<ReturnType<typeof openOwner>>;

/** Makes a call behind what another transaction does, which works on once the call waits or is answered. */
const callBehind = async (
  before: (tx: Transaction) => Promise<unknown>,
  call: () => Call,
  work: (tx: Transaction) => Promise<unknown>,
) => {
  const { answering } = await rig.pool.transaction(async (tx) => {
    await before(tx);
    let isAnswered = false;
    const answering = call().finally(() => (isAnswered = true));
    const isHeldUp = async () => isAnswered || (await countLockWaits(tx)) > 0;
    await waitUntil("the call waits or is answered", isHeldUp);
    await work(tx);
    return { answering };
  });
  return answering;
};

type Change = [string, string, (owner: Owner) => string, object | undefined];

const changes: Change[] = [
  ["switches a key on", "PATCH", ({ off }) => `api-keys/${String(off["id"])}`, { active: true }],
  ["limits a key", "PATCH", ({ on }) => `api-keys/${String(on["id"])}`, { burst: 1 }],
  ["rotates a key", "POST", ({ on }) => `api-keys/${String(on["id"])}/rotate`, {}],
  ["makes a key", "POST", () => "api-keys", { name: "more", scopes: ["payment_link:create"] }],
  ["names a passkey", "PATCH", ({ passkeyId }) => `passkeys/${passkeyId}`, { name: "mine" }],
  ["changes the profile", "PATCH", () => "account", { bio: "mine" }],
  [
    "adds a wallet",
    "POST",
    () => "wallets",
    { walletAddress: `0x${"2".repeat(40)}`, tokenId: "usdc-base" },
  ],
  ["changes a wallet", "PATCH", ({ walletId }) => `wallets/${walletId}`, { isDefault: false }],
  ["deletes a wallet", "DELETE", ({ walletId }) => `wallets/${walletId}`, undefined],
];

describe("a call whose session ends after it was let in", () => {
  test.each(changes)("%s no more", async (_name, method, pathOf, body) => {
    const owner = await openOwner();
    const { cookie, off, userId } = owner;
    const before = await rig.readAudit(userId);
    const answer = await callBehind(
      (tx) => lockAccount(tx, userId),
      () => rig.call(method, `${api}/${pathOf(owner)}`, { cookie, body }),
      (tx) => deleteSessionsOfAccount(tx, userId),
    );
    expect(refusalOf(answer)).toBe("401 UNAUTHENTICATED");
    expect(await rig.readAudit(userId)).toEqual(before);
    expect(await rig.introspect("api-key", String(off["key"]))).toEqual({ found: false });
  });
});

/** The session of a cookie, as a change by it is told of its caller. */
const callerOf = async ({ cookie, userId }: Owner) => {
  const { body } = await rig.call("GET", `${api}/sessions`, { cookie });
  const sessions = body["data"] as { id: string; isCurrent: boolean }[];
  const id = sessions.find(({ isCurrent }) => isCurrent)?.id ?? "";
  return { account: { id: userId }, credential: { id } };
};

const askForLink = async (userId: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return tokenOf(body["signInUrl"]);
};

type End = [string, string, (owner: Owner, sessionId: string) => Promise<() => Call>];
const ends: End[] = [
  [
    "signing out",
    "204",
    async ({ cookie }) =>
      () =>
        rig.call("DELETE", `${api}/session`, { cookie }),
  ],
  [
    "ending it from elsewhere",
    "204",
    async ({ userId }, sessionId) => {
      const cookie = await rig.signIn(await askForLink(userId));
      return () => rig.call("DELETE", `${api}/sessions/${sessionId}`, { cookie });
    },
  ],
  [
    "signing in to another account",
    "200",
    async ({ cookie }) => {
      const { token } = await rig.makeAccount();
      return () => rig.call("POST", `${api}/session`, { cookie, body: { token } });
    },
  ],
];

describe("the end of a session", () => {
  test.each(ends)("by %s waits for its own change under way", async (_name, status, prepare) => {
    const owner = await openOwner();
    const caller = await callerOf(owner);
    const end = await prepare(owner, caller.credential.id);
    const order: string[] = [];
    await callBehind(
      (tx) => lockCallersAccount(tx, caller),
      async () => {
        const answer = await end();
        order.push(refusalOf(answer));
        return answer;
      },
      async () => order.push("the change"),
    );
    expect(order).toEqual(["the change", status]);
    const { cookie } = owner;
    expect((await rig.call("GET", `${api}/session`, { cookie })).status).toBe(401);
  });

  test("by signing out is true though a proof of presence gave it another cookie meanwhile", async () => {
    const owner = await openOwner();
    const caller = await callerOf(owner);
    const { cookie } = owner;
    const hash = hashSecret("the next cookie");
    const ofOthers = { "links-api": hashSecret("next"), "webhook-dispatcher": hashSecret("next") };
    const hashes = { "auth-keys": hash, ...ofOthers };
    await callBehind(
      async (tx) => {
        await lockCallersAccount(tx, caller);
        await renewSession(tx, { id: caller.credential.id, hashes, provenAt: rig.clock.now() });
      },
      () => rig.call("DELETE", `${api}/session`, { cookie }),
      async () => {},
    );
    expect(await rig.introspect("session", "the next cookie")).toEqual({ found: false });
    expect(await rig.readAudit(owner.userId)).toContain("session.ended");
  });

  test("under way lets no change by that session through", async () => {
    const owner = await openOwner();
    const { account, credential } = await callerOf(owner);
    const before = await rig.readAudit(account.id);
    const { cookie } = owner;
    const answer = await callBehind(
      (tx) => deleteSession(tx, { id: credential.id, accountId: account.id }),
      () => rig.call("PATCH", `${api}/account`, { cookie, body: { bio: "mine" } }),
      async () => {},
    );
    expect(refusalOf(answer)).toBe("401 UNAUTHENTICATED");
    expect(await rig.readAudit(account.id)).toEqual(before);
  });
});

test("switching a key off waits for no other change of the account", async () => {
  const owner = await openOwner();
  const { cookie, on, userId } = owner;
  const path = `${api}/api-keys/${String(on["id"])}`;
  const order: string[] = [];
  const switchOff = async () => {
    const answer = await rig.call("PATCH", path, { cookie, body: { active: false } });
    order.push(refusalOf(answer));
    return answer;
  };
  await callBehind(
    (tx) => lockAccount(tx, userId),
    switchOff,
    async () => order.push("the other change"),
  );
  expect(order).toEqual(["200", "the other change"]);
  expect(await rig.introspect("api-key", String(on["key"]))).toEqual({ found: false });
});
