import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { type Browser, createBrowser } from "../testing/browser.ts";
import { type IdentityProvider, openIdentityProvider } from "../testing/identity-provider.ts";
import { type Rig, cookieOf, openRig, refusalOf } from "../testing/open-rig.ts";
import { type TamperingIssuer, openTamperingIssuer } from "../testing/tampering-issuer.ts";

const baseUrl = "https://console.example";
const startPath = "/console/api/session/oidc";
const provePath = `${startPath}?prove=true`;
const proven = "/console?presence=proven";
const stale = "401 REAUTHENTICATION_REQUIRED";
const key = { name: "shop", scopes: ["payment_link:read"] };

const act = (rig: Rig, cookie: string) =>
  rig.call("POST", "/console/api/api-keys", { cookie, body: key });

describe("a certified identity provider", () => {
  let provider: IdentityProvider;
  let rig: Rig;
  beforeAll(async () => {
    const redirectUri = `${baseUrl}${startPath}/callback`;
    provider = await openIdentityProvider({ redirectUri });
    rig = await openRig({ baseUrl, oidc: provider.client, now: new Date() });
  });
  afterAll(async () => {
    await rig.close();
    await provider.close();
  });

  const walk = async (browser: Browser, path: string, subject: string): Promise<string> => {
    provider.person.subject = subject;
    const stopBefore = ({ pathname }: URL) => pathname === "/console";
    const { url } = await browser.visit(path, { stopBefore });
    return `${url.pathname}${url.search}`;
  };

  /** A browser in which somebody signed in ten minutes ago. */
  const signedInLongAgo = async (subject: string): Promise<Browser> => {
    const browser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    await walk(browser, startPath, subject);
    rig.clock.advance(presenceMsMax);
    expect(refusalOf(await act(rig, browser.cookies()))).toBe(stale);
    return browser;
  };

  test("is asked to let the person sign in anew, and renews the session by that (rule CALLER-19)", async () => {
    const browser = await signedInLongAgo("present");
    const before = browser.cookies();
    const stopBefore = ({ origin }: URL) => origin === provider.client.issuer;
    const { url } = await browser.visit(provePath, { stopBefore });
    expect(url.searchParams.get("prompt")).toBe("login");
    // A provider must say when it was only where it is asked for an age.
    expect(url.searchParams.get("max_age")).toBe("0");
    const other = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    const signIn = await other.visit(startPath, { stopBefore });
    expect(Number(signIn.url.searchParams.get("max_age"))).toBeGreaterThan(presenceMsMax / 1000);
    expect(await walk(browser, provePath, "present")).toBe(proven);
    expect((await act(rig, browser.cookies())).status).toBe(201);
    expect(refusalOf(await act(rig, before))).toBe("401 UNAUTHENTICATED");
  });

  test("is a way in, however the configuration ends its name", async () => {
    const oidc = { ...provider.client, issuer: `${provider.client.issuer}/` };
    const other = await openRig({ baseUrl, oidc, now: new Date() });
    try {
      const browser = createBrowser({ origin: baseUrl, servedBy: other.publicUrl });
      await walk(browser, startPath, "with a slash");
      other.clock.advance(presenceMsMax);
      const { body } = await act(other, browser.cookies());
      expect(body["errors"]).toMatchObject([{ methods: expect.arrayContaining(["oidc"]) }]);
    } finally {
      await other.close();
    }
  });

  test.each(["somebody else", "a stranger"])("that brings back %s lifts nothing", async (who) => {
    const other = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    await walk(other, startPath, "somebody else");
    const browser = await signedInLongAgo(`victim of ${who}`);
    browser.forget(provider.client.issuer);
    const end = await walk(browser, provePath, who);
    expect(end).toBe("/console?error=REAUTHENTICATION_MISMATCH");
    expect(refusalOf(await act(rig, browser.cookies()))).toBe(stale);
  });

  test("proves nothing for a session that was not there at the start", async () => {
    const browser = await signedInLongAgo("two sessions");
    const stopBefore = ({ pathname }: URL) => pathname === `${startPath}/callback`;
    const { url } = await browser.visit(provePath, { stopBefore });
    const second = await signedInLongAgo("two sessions");
    for (const name of ["__Secure-session", "__Host-session"]) {
      browser.setCookie(name, new RegExp(`${name}=([^;]+)`).exec(second.cookies())?.[1]);
    }
    expect(await walk(browser, url.href, "two sessions")).toContain("OIDC_SIGN_IN_REFUSED");
    expect(refusalOf(await act(rig, browser.cookies()))).toBe(stale);
  });

  test("needs a session, and links nothing by a stale one", async () => {
    expect(refusalOf(await rig.call("GET", provePath))).toBe("401 UNAUTHENTICATED");
    const cookie = (await signedInLongAgo("linker")).cookies();
    const refused = await rig.call("GET", `${startPath}?link=true`, { cookie });
    expect(refusalOf(refused)).toBe(stale);
    expect(refused.headers.get("location")).toBeNull();
  });
});

// Whoever took over a browser has the provider's session in it too.
describe("an identity provider that lets people in by a sign-in of before", () => {
  let issuer: TamperingIssuer;
  let rig: Rig;
  beforeAll(async () => {
    issuer = await openTamperingIssuer();
    rig = await openRig({ oidc: issuer.client });
  });
  afterAll(async () => {
    await rig.close();
    await issuer.close();
  });

  /** Goes there and back; the person proved themselves there so long ago. */
  const goRound = async (path: string, ageSeconds: number | undefined, session = "") => {
    const started = await rig.call("GET", path, { cookie: session });
    const asked = new URL(started.headers.get("location") ?? "").searchParams;
    const claims = issuer.claims(asked.get("nonce") ?? "", rig.clock.now());
    const age = ageSeconds === undefined ? {} : { auth_time: Number(claims["iat"]) - ageSeconds };
    issuer.giveToken(await issuer.sign({ ...claims, ...age }));
    const cookie = `${session}; ${cookieOf(started.headers)}`;
    const back = `${startPath}/callback?code=made-up&state=${asked.get("state")}`;
    return rig.call("GET", back, { cookie });
  };

  test.each([
    ["long ago, begins a stale session", presenceMsMax / 1000, stale],
    ["just in time, begins a fresh one", presenceMsMax / 1000 - 1, "201"],
    ["and does not say when, begins a stale session", undefined, stale],
    ["in its own future, begins one that is fresh from now", -60, "201"],
  ])("%s", async (_name, ageSeconds, expected) => {
    const cookie = cookieOf((await goRound(startPath, ageSeconds)).headers);
    expect(refusalOf(await act(rig, cookie))).toBe(expected);
    rig.clock.advance(presenceMsMax);
    expect(refusalOf(await act(rig, cookie))).toBe(stale);
  });

  test.each([
    ["long ago", presenceMsMax / 1000],
    ["and does not say when", undefined],
  ])("%s, proves nothing", async (_name, ageSeconds) => {
    const cookie = cookieOf((await goRound(startPath, 0)).headers);
    rig.clock.advance(presenceMsMax);
    expect(refusalOf(await goRound(provePath, ageSeconds, cookie))).toBe(
      "401 OIDC_SIGN_IN_REFUSED",
    );
    expect(refusalOf(await act(rig, cookie))).toBe(stale);
  });

  test("an identity is linked by a proof of presence of the last ten minutes, also where they end on the way", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(presenceMsMax - 1_000);
    const started = await rig.call("GET", `${startPath}?link=true`, { cookie });
    const asked = new URL(started.headers.get("location") ?? "").searchParams;
    rig.clock.advance(1_000);
    const claims = issuer.claims(asked.get("nonce") ?? "", rig.clock.now());
    issuer.giveToken(await issuer.sign({ ...claims, sub: "linked late" }));
    const answer = await rig.call(
      "GET",
      `${startPath}/callback?code=made-up&state=${asked.get("state")}`,
      { cookie: `${cookie}; ${cookieOf(started.headers)}` },
    );
    expect(refusalOf(answer)).toBe(stale);
    const { body } = await rig.call("GET", "/console/api/identities", { cookie });
    expect(body["data"]).toEqual([]);
  });

  test("a proof of presence that the provider's token does not bear out stands in the log of the session's account", async () => {
    const own = await openRig({ oidc: issuer.client });
    try {
      const { userId, cookie } = await own.signUp();
      const started = await own.call("GET", provePath, { cookie });
      const state = new URL(started.headers.get("location") ?? "").searchParams.get("state");
      issuer.giveToken(await issuer.sign(issuer.claims("another's nonce", own.clock.now())));
      const answer = await own.call("GET", `${startPath}/callback?code=made-up&state=${state}`, {
        cookie: `${cookie}; ${cookieOf(started.headers)}`,
      });
      expect(refusalOf(answer)).toBe("401 OIDC_SIGN_IN_REFUSED");
      await own.service.stop();
      expect(await own.readAudit(userId)).toContain("session.presence_refused");
    } finally {
      await own.close();
    }
  });
});
