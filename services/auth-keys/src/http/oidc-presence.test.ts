import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { type Browser, createBrowser } from "../testing/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../testing/identity-provider.ts";
import { type Rig, getCookies, createRig, summarizeResponse } from "../testing/create-rig.ts";
import { type TamperingIssuer, startTamperingIssuer } from "../testing/tampering-issuer.ts";

const baseUrl = "https://console.example";
const startPath = "/console/api/session/oidc";
const provePath = `${startPath}?prove=true`;
const presenceProvenUrl = "/console?presence=proven";
const reauthenticationRequired = "401 REAUTHENTICATION_REQUIRED";
const keyBody = { name: "shop", scopes: ["payment_link:read"] };

const createApiKey = (rig: Rig, cookie: string) =>
  rig.call("POST", "/console/api/api-keys", { cookie, body: keyBody });

describe("a certified identity provider", () => {
  let provider: IdentityProvider;
  let rig: Rig;
  beforeAll(async () => {
    const redirectUri = `${baseUrl}${startPath}/callback`;
    provider = await startIdentityProvider({ redirectUri });
    rig = await createRig({ baseUrl, oidc: provider.client, now: new Date() });
  });
  afterAll(async () => {
    await rig.close();
    await provider.close();
  });

  const followSignIn = async (browser: Browser, path: string, subject: string): Promise<string> => {
    provider.user.subject = subject;
    const stopBefore = ({ pathname }: URL) => pathname === "/console";
    const { url } = await browser.visit(path, { stopBefore });
    return `${url.pathname}${url.search}`;
  };

  /** Returns a browser in which a user signed in 10 minutes ago. */
  const createStaleSession = async (subject: string): Promise<Browser> => {
    const browser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    await followSignIn(browser, startPath, subject);
    rig.clock.advance(presenceMsMax);
    expect(summarizeResponse(await createApiKey(rig, browser.cookies()))).toBe(
      reauthenticationRequired,
    );
    return browser;
  };

  test("authenticates the user again and renews the session (rule CALLER-19)", async () => {
    const browser = await createStaleSession("present");
    const cookiesBefore = browser.cookies();
    const stopBefore = ({ origin }: URL) => origin === provider.client.issuer;
    const { url } = await browser.visit(provePath, { stopBefore });
    expect(url.searchParams.get("prompt")).toBe("login");
    // A provider is required to report `auth_time` only if the request contains `max_age`.
    expect(url.searchParams.get("max_age")).toBe("0");
    const otherBrowser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    const signIn = await otherBrowser.visit(startPath, { stopBefore });
    expect(Number(signIn.url.searchParams.get("max_age"))).toBeGreaterThan(presenceMsMax / 1000);
    expect(await followSignIn(browser, provePath, "present")).toBe(presenceProvenUrl);
    expect((await createApiKey(rig, browser.cookies())).status).toBe(201);
    expect(summarizeResponse(await createApiKey(rig, cookiesBefore))).toBe("401 UNAUTHENTICATED");
  });

  test("is offered as a method even if the configured issuer has a trailing slash", async () => {
    const oidc = { ...provider.client, issuer: `${provider.client.issuer}/` };
    const otherRig = await createRig({ baseUrl, oidc, now: new Date() });
    try {
      const browser = createBrowser({ origin: baseUrl, servedBy: otherRig.publicUrl });
      await followSignIn(browser, startPath, "with a slash");
      otherRig.clock.advance(presenceMsMax);
      const { body } = await createApiKey(otherRig, browser.cookies());
      expect(body["errors"]).toMatchObject([{ methods: expect.arrayContaining(["oidc"]) }]);
    } finally {
      await otherRig.close();
    }
  });

  test.each(["another user", "an unknown user"])(
    "proves nothing when it returns another subject: %s",
    async (subject) => {
      const otherBrowser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
      await followSignIn(otherBrowser, startPath, "another user");
      const browser = await createStaleSession(`victim of ${subject}`);
      browser.deleteCookies(provider.client.issuer);
      const finalUrl = await followSignIn(browser, provePath, subject);
      expect(finalUrl).toBe("/console?error=REAUTHENTICATION_MISMATCH");
      expect(summarizeResponse(await createApiKey(rig, browser.cookies()))).toBe(
        reauthenticationRequired,
      );
    },
  );

  test("proves nothing for a session that did not start the proof", async () => {
    const browser = await createStaleSession("two sessions");
    const stopBefore = ({ pathname }: URL) => pathname === `${startPath}/callback`;
    const { url } = await browser.visit(provePath, { stopBefore });
    const secondSession = await createStaleSession("two sessions");
    for (const name of ["__Secure-session", "__Host-session"]) {
      browser.setCookie(name, new RegExp(`${name}=([^;]+)`).exec(secondSession.cookies())?.[1]);
    }
    expect(await followSignIn(browser, url.href, "two sessions")).toContain("OIDC_SIGN_IN_REFUSED");
    expect(summarizeResponse(await createApiKey(rig, browser.cookies()))).toBe(
      reauthenticationRequired,
    );
  });

  test("requires a session to prove presence, and a fresh proof to link an identity", async () => {
    expect(summarizeResponse(await rig.call("GET", provePath))).toBe("401 UNAUTHENTICATED");
    const cookie = (await createStaleSession("linker")).cookies();
    const rejected = await rig.call("GET", `${startPath}?link=true`, { cookie });
    expect(summarizeResponse(rejected)).toBe(reauthenticationRequired);
    expect(rejected.headers.get("location")).toBeNull();
  });
});

// An attacker with access to the user's browser also has the user's session at the provider.
describe("an identity provider that reuses an earlier sign-in", () => {
  let issuer: TamperingIssuer;
  let rig: Rig;
  beforeAll(async () => {
    issuer = await startTamperingIssuer();
    rig = await createRig({ oidc: issuer.client });
  });
  afterAll(async () => {
    await rig.close();
    await issuer.close();
  });

  /** Completes the redirects. The user authenticated at the provider `ageSeconds` ago. */
  const completeSignIn = async (
    path: string,
    ageSeconds: number | undefined,
    sessionCookie = "",
  ) => {
    const startResponse = await rig.call("GET", path, { cookie: sessionCookie });
    const authorizationParams = new URL(startResponse.headers.get("location") ?? "").searchParams;
    const claims = issuer.claims(authorizationParams.get("nonce") ?? "", rig.clock.now());
    const authTimeClaim =
      ageSeconds === undefined ? {} : { auth_time: Number(claims["iat"]) - ageSeconds };
    issuer.setTokenResponse(await issuer.signToken({ ...claims, ...authTimeClaim }));
    const cookie = `${sessionCookie}; ${getCookies(startResponse.headers)}`;
    const callbackPath = `${startPath}/callback?code=made-up&state=${authorizationParams.get("state")}`;
    return rig.call("GET", callbackPath, { cookie });
  };

  test.each([
    [
      "starts a stale session if the sign-in is too old",
      presenceMsMax / 1000,
      reauthenticationRequired,
    ],
    [
      "starts a fresh session if the sign-in is just recent enough",
      presenceMsMax / 1000 - 1,
      "201",
    ],
    ["starts a stale session if it reports no time", undefined, reauthenticationRequired],
    ["starts a session that is fresh from now if the time is in the future", -60, "201"],
  ])("%s", async (_name, ageSeconds, expected) => {
    const cookie = getCookies((await completeSignIn(startPath, ageSeconds)).headers);
    expect(summarizeResponse(await createApiKey(rig, cookie))).toBe(expected);
    rig.clock.advance(presenceMsMax);
    expect(summarizeResponse(await createApiKey(rig, cookie))).toBe(reauthenticationRequired);
  });

  test.each([
    ["too long ago", presenceMsMax / 1000],
    ["at an unknown time", undefined],
  ])("proves nothing if the user authenticated %s", async (_name, ageSeconds) => {
    const cookie = getCookies((await completeSignIn(startPath, 0)).headers);
    rig.clock.advance(presenceMsMax);
    expect(summarizeResponse(await completeSignIn(provePath, ageSeconds, cookie))).toBe(
      "401 OIDC_SIGN_IN_REFUSED",
    );
    expect(summarizeResponse(await createApiKey(rig, cookie))).toBe(reauthenticationRequired);
  });

  test("does not link an identity if the proof of presence expires during the redirect", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(presenceMsMax - 1_000);
    const startResponse = await rig.call("GET", `${startPath}?link=true`, { cookie });
    const authorizationParams = new URL(startResponse.headers.get("location") ?? "").searchParams;
    rig.clock.advance(1_000);
    const claims = issuer.claims(authorizationParams.get("nonce") ?? "", rig.clock.now());
    issuer.setTokenResponse(await issuer.signToken({ ...claims, sub: "linked late" }));
    const response = await rig.call(
      "GET",
      `${startPath}/callback?code=made-up&state=${authorizationParams.get("state")}`,
      { cookie: `${cookie}; ${getCookies(startResponse.headers)}` },
    );
    expect(summarizeResponse(response)).toBe(reauthenticationRequired);
    const { body } = await rig.call("GET", "/console/api/identities", { cookie });
    expect(body["data"]).toEqual([]);
  });

  test("logs a failed proof of presence in the audit log of the session's account", async () => {
    const ownRig = await createRig({ oidc: issuer.client });
    try {
      const { userId, cookie } = await ownRig.signUp();
      const startResponse = await ownRig.call("GET", provePath, { cookie });
      const state = new URL(startResponse.headers.get("location") ?? "").searchParams.get("state");
      issuer.setTokenResponse(
        await issuer.signToken(issuer.claims("another's nonce", ownRig.clock.now())),
      );
      const response = await ownRig.call(
        "GET",
        `${startPath}/callback?code=made-up&state=${state}`,
        {
          cookie: `${cookie}; ${getCookies(startResponse.headers)}`,
        },
      );
      expect(summarizeResponse(response)).toBe("401 OIDC_SIGN_IN_REFUSED");
      await ownRig.service.stop();
      expect(await ownRig.readAudit(userId)).toContain("session.presence_refused");
    } finally {
      await ownRig.close();
    }
  });
});
