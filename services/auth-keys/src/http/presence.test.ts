import { describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, cookieOf, refusalOf, tokenOf } from "../testing/open-rig.ts";
import { makeWallet, prepareSiwe, signInByWallet } from "../testing/siwe.ts";

const path = "/console/api/session/presence";
const keysPath = "/console/api/api-keys";
const stale = "401 REAUTHENTICATION_REQUIRED";
const wallet = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};
const key = { name: "shop", scopes: ["payment_link:read"] };

const rig = useRig(openRig);

/** What is sensitive: here, making a key. */
const act = (cookie: string) => rig.call("POST", keysPath, { cookie, body: key });

const prove = (cookie: string, body: unknown) => rig.call("POST", path, { cookie, body });

const linkTo = async (userId: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return tokenOf(body["signInUrl"]);
};

/** Somebody whose sign-in was ten minutes ago. */
const signUpLongAgo = async () => {
  const person = await rig.signUp();
  rig.clock.advance(presenceMsMax);
  return person;
};

const sessionsOf = async (cookie: string) => {
  const { body } = await rig.call("GET", "/console/api/sessions", { cookie });
  return (body["data"] as { id: string; isCurrent: boolean }[]).map(({ id }) => id);
};

describe("a proof of presence (rule CALLER-19)", () => {
  test("counts for ten minutes from the sign-in, and what is missing then is told (rule ERROR-1)", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(presenceMsMax - 1);
    expect((await act(cookie)).status).toBe(201);
    rig.clock.advance(1);
    const refused = await act(cookie);
    expect(refused.status).toBe(401);
    const message = expect.stringMatching(/^Prove once more/);
    const code = "REAUTHENTICATION_REQUIRED";
    expect(refused.body).toEqual({ errors: [{ message, code, methods: ["link"] }] });
  });

  test("is asked for by the ways in that the account has", async () => {
    const { cookie } = await signInByWallet(rig, makeWallet());
    rig.clock.advance(presenceMsMax);
    expect((await act(cookie)).body["errors"]).toMatchObject([{ methods: ["link", "siwe"] }]);
  });

  test("by a sign-in link renews the same session, under another cookie", async () => {
    const { userId, cookie } = await signUpLongAgo();
    const before = await sessionsOf(cookie);
    const answer = await prove(cookie, { token: await linkTo(userId) });
    expect(answer.status).toBe(204);
    const renewed = cookieOf(answer.headers);
    expect((await act(renewed)).status).toBe(201);
    expect(await sessionsOf(renewed)).toEqual(before);
    // Whoever copied the cookie has nothing of the proof, and nothing any more.
    expect(refusalOf(await act(cookie))).toBe("401 UNAUTHENTICATED");
    expect(await rig.readAudit(userId)).toContain("session.presence_proven");
    const maxAge = /Max-Age=(\d+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
    expect(Number(maxAge)).toBe(12 * 3600 - presenceMsMax / 1000);
    rig.clock.advance(presenceMsMax);
    expect(refusalOf(await act(renewed))).toBe(stale);
  });

  test("by the signature of the account's own wallet renews it too, once", async () => {
    const signer = makeWallet();
    const { cookie } = await signInByWallet(rig, signer);
    rig.clock.advance(presenceMsMax);
    const { browser, siwe } = await prepareSiwe(rig, signer, cookie);
    const both = `${cookie}; ${browser}`;
    const answer = await prove(both, { siwe });
    expect(answer.status).toBe(204);
    const renewed = cookieOf(answer.headers);
    expect((await act(renewed)).status).toBe(201);
    const again = await prove(`${renewed}; ${browser}`, { siwe });
    expect(refusalOf(again)).toBe("401 INVALID_SIWE_MESSAGE");
  });

  test("of another account lifts nothing, and its link stays good", async () => {
    const { userId, cookie } = await signUpLongAgo();
    const thief = await rig.signUp();
    const token = await linkTo(thief.userId);
    expect(refusalOf(await prove(cookie, { token }))).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(refusalOf(await act(cookie))).toBe(stale);
    expect(await rig.readAudit(userId)).not.toContain("session.presence_proven");
    await rig.signIn(token);
  });

  test("by a wallet that nobody linked lifts nothing, and opens no account", async () => {
    const { cookie } = await signUpLongAgo();
    const signer = makeWallet();
    const { browser, siwe } = await prepareSiwe(rig, signer, cookie);
    const refused = await prove(`${cookie}; ${browser}`, { siwe });
    expect(refusalOf(refused)).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(refused.headers.get("set-cookie")).toBeNull();
    expect(refusalOf(await act(cookie))).toBe(stale);
    const { userId } = await signInByWallet(rig, signer);
    const opened = await rig.readAudit(userId);
    expect(opened.filter((action) => action === "session.started")).toHaveLength(1);
  });

  test.each([
    ["a link that is used or made up", "401 INVALID_SIGN_IN_TOKEN", { token: "A".repeat(43) }],
    ["no message", "401 INVALID_SIWE_MESSAGE", { siwe: { message: "", signature: "" } }],
    ["nothing", "422 missing", {}],
  ])("by %s is refused, and leaves the session as it was", async (_name, expected, body) => {
    const { cookie } = await signUpLongAgo();
    expect(refusalOf(await prove(cookie, body))).toBe(expected);
    expect(refusalOf(await act(cookie))).toBe(stale);
    expect((await rig.call("GET", "/console/api/session", { cookie })).status).toBe(200);
  });

  test("needs a session that is there at its end too", async () => {
    const { userId, cookie } = await signUpLongAgo();
    const token = await linkTo(userId);
    await rig.call("DELETE", "/console/api/session", { cookie });
    expect(refusalOf(await prove(cookie, { token }))).toBe("401 UNAUTHENTICATED");
    await rig.signIn(token);
  });
});

describe("without a fresh proof (rule CALLER-19)", () => {
  test("a key is switched off, and not on again", async () => {
    const { cookie } = await rig.signUp();
    const { body } = await act(cookie);
    const change = (active: boolean) =>
      rig.call("PATCH", `${keysPath}/${String(body["id"])}`, { cookie, body: { active } });
    rig.clock.advance(presenceMsMax);
    expect((await change(false)).status).toBe(200);
    expect(refusalOf(await change(true))).toBe(stale);
  });

  test("nobody learns by a refusal what exists or what was wrong", async () => {
    const { cookie } = await signUpLongAgo();
    const outcomes = await Promise.all([
      rig.call("POST", "/console/api/wallets", { cookie, body: wallet }),
      rig.call("POST", "/console/api/wallets", { cookie, body: {} }),
      rig.call("DELETE", "/console/api/wallets/nobodys", { cookie }),
    ]);
    expect(outcomes.map(refusalOf)).toEqual([stale, stale, stale]);
  });
});
