import { describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, getCookies, summarizeResponse, parseToken } from "../testing/create-rig.ts";
import { createWallet, prepareSiwe, signInWithWallet } from "../testing/siwe.ts";

const path = "/console/api/session/presence";
const keysPath = "/console/api/api-keys";
const reauthenticationRequired = "401 REAUTHENTICATION_REQUIRED";
const wallet = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};
const keyBody = { name: "shop", scopes: ["payment_link:read"] };

const rig = useRig(createRig);

/** Makes a sensitive request: the creation of an API key. */
const createApiKey = (cookie: string) => rig.call("POST", keysPath, { cookie, body: keyBody });

const provePresence = (cookie: string, body: unknown) => rig.call("POST", path, { cookie, body });

const createSignInLink = async (userId: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return parseToken(body["signInUrl"]);
};

/** Creates a user whose sign-in was 10 minutes ago. */
const createStaleSession = async () => {
  const user = await rig.signUp();
  rig.clock.advance(presenceMsMax);
  return user;
};

const listSessionIds = async (cookie: string) => {
  const { body } = await rig.call("GET", "/console/api/sessions", { cookie });
  return (body["data"] as { id: string; isCurrent: boolean }[]).map(({ id }) => id);
};

describe("a proof of presence (rule CALLER-19)", () => {
  test("is valid for 10 minutes from the sign-in, after which the error lists the methods to renew it (rule ERROR-1)", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(presenceMsMax - 1);
    expect((await createApiKey(cookie)).status).toBe(201);
    rig.clock.advance(1);
    const rejected = await createApiKey(cookie);
    expect(rejected.status).toBe(401);
    const message = expect.stringMatching(/^Confirm your identity/);
    const code = "REAUTHENTICATION_REQUIRED";
    expect(rejected.body).toEqual({ errors: [{ message, code, methods: ["link"] }] });
  });

  test("can be renewed with the account's own sign-in methods", async () => {
    const { cookie } = await signInWithWallet(rig, createWallet());
    rig.clock.advance(presenceMsMax);
    expect((await createApiKey(cookie)).body["errors"]).toMatchObject([
      { methods: ["link", "siwe"] },
    ]);
  });

  test("by a sign-in link renews the same session with a new cookie", async () => {
    const { userId, cookie } = await createStaleSession();
    const sessionsBefore = await listSessionIds(cookie);
    const response = await provePresence(cookie, { token: await createSignInLink(userId) });
    expect(response.status).toBe(204);
    const renewedCookie = getCookies(response.headers);
    expect((await createApiKey(renewedCookie)).status).toBe(201);
    expect(await listSessionIds(renewedCookie)).toEqual(sessionsBefore);
    // A copied cookie does not benefit from the proof. It stops working.
    expect(summarizeResponse(await createApiKey(cookie))).toBe("401 UNAUTHENTICATED");
    expect(await rig.readAudit(userId)).toContain("session.presence_proven");
    const maxAge = /Max-Age=(\d+)/.exec(response.headers.get("set-cookie") ?? "")?.[1];
    expect(Number(maxAge)).toBe(12 * 3600 - presenceMsMax / 1000);
    rig.clock.advance(presenceMsMax);
    expect(summarizeResponse(await createApiKey(renewedCookie))).toBe(reauthenticationRequired);
  });

  test("by the signature of the account's own wallet renews the session, once", async () => {
    const signer = createWallet();
    const { cookie } = await signInWithWallet(rig, signer);
    rig.clock.advance(presenceMsMax);
    const { browserCookie, siwe } = await prepareSiwe(rig, signer, cookie);
    const cookies = `${cookie}; ${browserCookie}`;
    const response = await provePresence(cookies, { siwe });
    expect(response.status).toBe(204);
    const renewedCookie = getCookies(response.headers);
    expect((await createApiKey(renewedCookie)).status).toBe(201);
    const secondResponse = await provePresence(`${renewedCookie}; ${browserCookie}`, { siwe });
    expect(summarizeResponse(secondResponse)).toBe("401 INVALID_SIWE_MESSAGE");
  });

  test("of another account proves nothing, and its link stays valid", async () => {
    const { userId, cookie } = await createStaleSession();
    const otherUser = await rig.signUp();
    const token = await createSignInLink(otherUser.userId);
    expect(summarizeResponse(await provePresence(cookie, { token }))).toBe(
      "403 REAUTHENTICATION_MISMATCH",
    );
    expect(summarizeResponse(await createApiKey(cookie))).toBe(reauthenticationRequired);
    expect(await rig.readAudit(userId)).not.toContain("session.presence_proven");
    await rig.signIn(token);
  });

  test("by a wallet that is not linked is rejected, and does not create an account", async () => {
    const { cookie } = await createStaleSession();
    const signer = createWallet();
    const { browserCookie, siwe } = await prepareSiwe(rig, signer, cookie);
    const rejected = await provePresence(`${cookie}; ${browserCookie}`, { siwe });
    expect(summarizeResponse(rejected)).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(rejected.headers.get("set-cookie")).toBeNull();
    expect(summarizeResponse(await createApiKey(cookie))).toBe(reauthenticationRequired);
    const { userId } = await signInWithWallet(rig, signer);
    const actions = await rig.readAudit(userId);
    expect(actions.filter((action) => action === "session.started")).toHaveLength(1);
  });

  test.each([
    ["a used or invented link", "401 INVALID_SIGN_IN_TOKEN", { token: "A".repeat(43) }],
    ["no message", "401 INVALID_SIWE_MESSAGE", { siwe: { message: "", signature: "" } }],
    ["an empty object", "422 missing", {}],
  ])("by %s is rejected, and leaves the session unchanged", async (_name, expected, body) => {
    const { cookie } = await createStaleSession();
    expect(summarizeResponse(await provePresence(cookie, body))).toBe(expected);
    expect(summarizeResponse(await createApiKey(cookie))).toBe(reauthenticationRequired);
    expect((await rig.call("GET", "/console/api/session", { cookie })).status).toBe(200);
  });

  test("requires a session that still exists when the proof is complete", async () => {
    const { userId, cookie } = await createStaleSession();
    const token = await createSignInLink(userId);
    await rig.call("DELETE", "/console/api/session", { cookie });
    expect(summarizeResponse(await provePresence(cookie, { token }))).toBe("401 UNAUTHENTICATED");
    await rig.signIn(token);
  });
});

describe("without a recent proof (rule CALLER-19)", () => {
  test("deactivates a key, but does not reactivate it", async () => {
    const { cookie } = await rig.signUp();
    const { body } = await createApiKey(cookie);
    const setKeyActive = (active: boolean) =>
      rig.call("PATCH", `${keysPath}/${String(body["id"])}`, { cookie, body: { active } });
    rig.clock.advance(presenceMsMax);
    expect((await setKeyActive(false)).status).toBe(200);
    expect(summarizeResponse(await setKeyActive(true))).toBe(reauthenticationRequired);
  });

  test("does not reveal in its rejection what exists or what else was invalid", async () => {
    const { cookie } = await createStaleSession();
    const results = await Promise.all([
      rig.call("POST", "/console/api/wallets", { cookie, body: wallet }),
      rig.call("POST", "/console/api/wallets", { cookie, body: {} }),
      rig.call("DELETE", "/console/api/wallets/nobodys", { cookie }),
    ]);
    expect(results.map(summarizeResponse)).toEqual([
      reauthenticationRequired,
      reauthenticationRequired,
      reauthenticationRequired,
    ]);
  });
});
