import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { oidcAttemptLifetimeMs } from "../domain/sign-in-attempt.ts";
import { type Browser, createBrowser } from "../testing/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../testing/identity-provider.ts";
import { type Rig, createRig, summarizeResponse } from "../testing/create-rig.ts";

const baseUrl = "https://console.example";
const sessionPath = "/console/api/session";
const startPath = `${sessionPath}/oidc`;
const callbackPath = `${startPath}/callback`;

let provider: IdentityProvider;
let rig: Rig;
beforeAll(async () => {
  provider = await startIdentityProvider({ redirectUri: `${baseUrl}${callbackPath}` });
  // The provider uses the machine's clock.
  rig = await createRig({ baseUrl, oidc: provider.client, now: new Date() });
});
afterAll(async () => {
  await rig.close();
  await provider.close();
});

const createNewBrowser = (): Browser => createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
const isConsoleUrl = ({ pathname }: URL): boolean => pathname === "/console";
const isCallbackUrl = ({ pathname }: URL): boolean => pathname === callbackPath;

const signIn = async (browser: Browser, subject: string): Promise<string> => {
  provider.user.subject = subject;
  const { url } = await browser.visit(startPath, { stopBefore: isConsoleUrl });
  return `${url.pathname}${url.search}`;
};

const getSessionAccount = async (browser: Browser): Promise<Record<string, unknown>> => {
  const { body } = await rig.call("GET", sessionPath, { cookie: browser.cookies() });
  return body;
};

const expectSignedOut = async (browser: Browser): Promise<void> => {
  const response = await rig.call("GET", sessionPath, { cookie: browser.cookies() });
  expect(summarizeResponse(response)).toBe("401 UNAUTHENTICATED");
};

/** Follows the sign-in up to the callback URL, without requesting it. */
const startAndReturn = async (browser: Browser, subject: string): Promise<URL> => {
  provider.user.subject = subject;
  const { url } = await browser.visit(startPath, { stopBefore: isCallbackUrl });
  return url;
};

const rejectedUrl = "/console?error=OIDC_SIGN_IN_REFUSED";

const finishSignIn = async (browser: Browser, url: URL): Promise<string> => {
  const { url: finalUrl } = await browser.visit(url.href, { stopBefore: isConsoleUrl });
  return `${finalUrl.pathname}${finalUrl.search}`;
};

describe("a sign-in at a certified identity provider", () => {
  test("creates and publishes an account without handle and wallet the first time (rule CALLER-12)", async () => {
    const browser = createNewBrowser();
    expect(await signIn(browser, "ada")).toBe("/console");
    const account = await getSessionAccount(browser);
    expect(account).toMatchObject({ handle: null, username: "Ada Example", isReady: false });
    const userId = String(account["id"]);
    expect(await rig.readEvents(userId)).toMatchObject([
      { type: "account.updated", data: { version: 1, wallets: [] } },
    ]);
    expect(await rig.readAudit(userId)).toEqual([
      "account.created",
      "identity.linked",
      "session.started",
    ]);
    const cookie = browser.cookies();
    expect(cookie).toMatch(/__Host-session=[\w-]{43}/);
    const identities = await rig.call("GET", "/console/api/identities", { cookie });
    expect(identities.body["data"]).toMatchObject([
      { method: "oidc", issuer: provider.client.issuer, subject: "ada" },
    ]);
    const sessions = await rig.call("GET", "/console/api/sessions", { cookie });
    expect(sessions.body["data"]).toMatchObject([{ method: "oidc", isCurrent: true }]);
  });

  test("signs in to the same account the next time, in any browser", async () => {
    const [first, second] = [createNewBrowser(), createNewBrowser()];
    await signIn(first, "grace");
    await signIn(second, "grace");
    expect((await getSessionAccount(second))["id"]).toBe((await getSessionAccount(first))["id"]);
    const otherBrowser = createNewBrowser();
    await signIn(otherBrowser, "hedy");
    expect((await getSessionAccount(otherBrowser))["id"]).not.toBe(
      (await getSessionAccount(first))["id"],
    );
  });

  test("always starts a new session and ends the previous one", async () => {
    const browser = createNewBrowser();
    await signIn(browser, "ida");
    const previousCookies = browser.cookies();
    await signIn(browser, "ida");
    expect(browser.cookies()).not.toBe(previousCookies);
    expect((await rig.call("GET", sessionPath, { cookie: previousCookies })).status).toBe(401);
    expect((await getSessionAccount(browser))["username"]).toBe("Ada Example");
  });

  test("works in two tabs independently, in any order", async () => {
    const browser = createNewBrowser();
    const first = await startAndReturn(browser, "joan");
    const second = await startAndReturn(browser, "joan");
    expect(await finishSignIn(browser, second)).toBe("/console");
    expect(await finishSignIn(browser, first)).toBe("/console");
  });

  test("sends an S256 challenge, a state and a nonce, each with enough entropy (rule CALLER-12)", async () => {
    const { url } = await createNewBrowser().visit(startPath, {
      stopBefore: ({ origin }) => origin === provider.client.issuer,
    });
    const authorizationParams = Object.fromEntries(url.searchParams);
    expect(authorizationParams).toEqual({
      client_id: "payment-links",
      response_type: "code",
      redirect_uri: `${baseUrl}${callbackPath}`,
      scope: "openid profile",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      max_age: "31536000",
    });
    expect(
      new Set([
        authorizationParams["state"],
        authorizationParams["nonce"],
        authorizationParams["code_challenge"],
      ]).size,
    ).toBe(3);
  });

  test("continues to work after the provider rotated its key", async () => {
    await provider.useSigningKey("second");
    const browser = createNewBrowser();
    expect(await signIn(browser, "kathleen")).toBe("/console");
    expect((await getSessionAccount(browser))["username"]).toBe("Ada Example");
  });
});

describe("the callback", () => {
  test("works only once", async () => {
    const browser = createNewBrowser();
    const url = await startAndReturn(browser, "lise");
    expect(await finishSignIn(browser, url)).toBe("/console");
    const account = await getSessionAccount(browser);
    expect(await finishSignIn(browser, url)).toBe(rejectedUrl);
    // The signed-in user stays signed in.
    expect(await getSessionAccount(browser)).toEqual(account);
  });

  test("is rejected in another browser, and still works in its own (rule CALLER-12)", async () => {
    const [ownBrowser, attackerBrowser] = [createNewBrowser(), createNewBrowser()];
    const url = await startAndReturn(ownBrowser, "mary");
    await startAndReturn(attackerBrowser, "mallory");
    expect(await finishSignIn(attackerBrowser, url)).toBe(rejectedUrl);
    await expectSignedOut(attackerBrowser);
    expect(await finishSignIn(ownBrowser, url)).toBe("/console");
  });

  test("is rejected without the browser's cookie", async () => {
    const browser = createNewBrowser();
    const url = await startAndReturn(browser, "noor");
    browser.setCookie("__Host-sign-in", undefined);
    expect(await finishSignIn(browser, url)).toBe(rejectedUrl);
    await expectSignedOut(browser);
  });

  test("is rejected after ten minutes", async () => {
    const lateRig = await createRig({ baseUrl, oidc: provider.client, now: new Date() });
    try {
      const browser = createBrowser({ origin: baseUrl, servedBy: lateRig.publicUrl });
      const { url } = await browser.visit(startPath, { stopBefore: isCallbackUrl });
      lateRig.clock.advance(oidcAttemptLifetimeMs);
      expect(await finishSignIn(browser, url)).toBe(rejectedUrl);
      expect(lateRig.logLines.join("\n")).toContain('"rule":"state"');
    } finally {
      await lateRig.close();
    }
  });

  test.each<[string, (url: URL) => void]>([
    ["another state", (url) => url.searchParams.set("state", "A".repeat(43))],
    ["no state", (url) => url.searchParams.delete("state")],
    ["a duplicate state", (url) => url.searchParams.append("state", "A".repeat(43))],
    ["another code", (url) => url.searchParams.set("code", "A".repeat(43))],
    ["no code", (url) => url.searchParams.delete("code")],
    ["another issuer", (url) => url.searchParams.set("iss", "https://evil.example")],
    ["no issuer, although this provider promises it", (url) => url.searchParams.delete("iss")],
    ["an error", (url) => url.searchParams.set("error", "access_denied")],
    ["no parameters", (url) => void (url.search = "")],
  ])("is rejected with %s", async (_name, tamper) => {
    const browser = createNewBrowser();
    const url = await startAndReturn(browser, "rosalind");
    tamper(url);
    expect(await finishSignIn(browser, url)).toBe(rejectedUrl);
    await expectSignedOut(browser);
  });

  test("is rejected with a code for another browser's challenge", async () => {
    const [ownBrowser, attackerBrowser] = [createNewBrowser(), createNewBrowser()];
    const victimUrl = await startAndReturn(ownBrowser, "sofia");
    const url = await startAndReturn(attackerBrowser, "thea");
    url.searchParams.set("code", victimUrl.searchParams.get("code") ?? "");
    expect(await finishSignIn(attackerBrowser, url)).toBe(rejectedUrl);
    await expectSignedOut(attackerBrowser);
  });

  test("is rejected with a code that was issued without a challenge", async () => {
    const browser = createNewBrowser();
    provider.user.subject = "ursula";
    const { url: authorizationUrl } = await browser.visit(startPath, {
      stopBefore: ({ origin }) => origin === provider.client.issuer,
    });
    authorizationUrl.searchParams.delete("code_challenge");
    authorizationUrl.searchParams.delete("code_challenge_method");
    const { url } = await browser.visit(authorizationUrl.href, { stopBefore: isCallbackUrl });
    expect(url.searchParams.get("code")).not.toBeNull();
    expect(await finishSignIn(browser, url)).toBe(rejectedUrl);
    await expectSignedOut(browser);
  });

  test("responds with the error envelope to a client that does not accept HTML", async () => {
    const response = await rig.call("GET", `${callbackPath}?code=c&state=s`);
    expect(summarizeResponse(response)).toBe("401 OIDC_SIGN_IN_REFUSED");
  });

  test("accepts a cross-site redirect, but the start of the sign-in does not", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const callbackResponse = await rig.call("GET", `${callbackPath}?code=c&state=s`, { headers });
    expect(summarizeResponse(callbackResponse)).toBe("401 OIDC_SIGN_IN_REFUSED");
    const startResponse = await rig.call("GET", startPath, { headers });
    expect(summarizeResponse(startResponse)).toBe("403 CROSS_SITE_REQUEST");
  });
});
