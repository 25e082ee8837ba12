import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { oidcAttemptLifeMs } from "../domain/sign-in-attempt.ts";
import { type Browser, createBrowser } from "../testing/browser.ts";
import { type IdentityProvider, openIdentityProvider } from "../testing/identity-provider.ts";
import { type Rig, openRig, refusalOf } from "../testing/open-rig.ts";

const baseUrl = "https://console.example";
const sessionPath = "/console/api/session";
const startPath = `${sessionPath}/oidc`;
const callbackPath = `${startPath}/callback`;

let provider: IdentityProvider;
let rig: Rig;
beforeAll(async () => {
  provider = await openIdentityProvider({ redirectUri: `${baseUrl}${callbackPath}` });
  // The provider's clock is the machine's.
  rig = await openRig({ baseUrl, oidc: provider.client, now: new Date() });
});
afterAll(async () => {
  await rig.close();
  await provider.close();
});

const newBrowser = (): Browser => createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
const isConsole = ({ pathname }: URL): boolean => pathname === "/console";
const isCallback = ({ pathname }: URL): boolean => pathname === callbackPath;

const signIn = async (browser: Browser, subject: string): Promise<string> => {
  provider.person.subject = subject;
  const { url } = await browser.visit(startPath, { stopBefore: isConsole });
  return `${url.pathname}${url.search}`;
};

const whoIs = async (browser: Browser): Promise<Record<string, unknown>> => {
  const { body } = await rig.call("GET", sessionPath, { cookie: browser.cookies() });
  return body;
};

const expectNobody = async (browser: Browser): Promise<void> => {
  const answer = await rig.call("GET", sessionPath, { cookie: browser.cookies() });
  expect(refusalOf(answer)).toBe("401 UNAUTHENTICATED");
};

/** Goes up to the redirect back, which is not followed yet. */
const comeBack = async (browser: Browser, subject: string): Promise<URL> => {
  provider.person.subject = subject;
  const { url } = await browser.visit(startPath, { stopBefore: isCallback });
  return url;
};

const refused = "/console?error=OIDC_SIGN_IN_REFUSED";

const finish = async (browser: Browser, url: URL): Promise<string> => {
  const { url: end } = await browser.visit(url.href, { stopBefore: isConsole });
  return `${end.pathname}${end.search}`;
};

describe("signing in at a certified identity provider", () => {
  test("the first time opens an account with no handle and no wallet, and tells of it (rule CALLER-12)", async () => {
    const browser = newBrowser();
    expect(await signIn(browser, "ada")).toBe("/console");
    const account = await whoIs(browser);
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

  test("the next time, in any browser, signs in to the same account", async () => {
    const [first, second] = [newBrowser(), newBrowser()];
    await signIn(first, "grace");
    await signIn(second, "grace");
    expect((await whoIs(second))["id"]).toBe((await whoIs(first))["id"]);
    const other = newBrowser();
    await signIn(other, "hedy");
    expect((await whoIs(other))["id"]).not.toBe((await whoIs(first))["id"]);
  });

  test("always begins a new session, and ends the one before", async () => {
    const browser = newBrowser();
    await signIn(browser, "ida");
    const former = browser.cookies();
    await signIn(browser, "ida");
    expect(browser.cookies()).not.toBe(former);
    expect((await rig.call("GET", sessionPath, { cookie: former })).status).toBe(401);
    expect((await whoIs(browser))["username"]).toBe("Ada Example");
  });

  test("of two tabs, each comes back by itself, in any order", async () => {
    const browser = newBrowser();
    const first = await comeBack(browser, "joan");
    const second = await comeBack(browser, "joan");
    expect(await finish(browser, second)).toBe("/console");
    expect(await finish(browser, first)).toBe("/console");
  });

  test("sends a challenge by S256, a state and a nonce, each as random as it must be (rule CALLER-12)", async () => {
    const { url } = await newBrowser().visit(startPath, {
      stopBefore: ({ origin }) => origin === provider.client.issuer,
    });
    const asked = Object.fromEntries(url.searchParams);
    expect(asked).toEqual({
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
    expect(new Set([asked["state"], asked["nonce"], asked["code_challenge"]]).size).toBe(3);
  });

  test("works on when the provider has taken a new key", async () => {
    await provider.useKey("second");
    const browser = newBrowser();
    expect(await signIn(browser, "kathleen")).toBe("/console");
    expect((await whoIs(browser))["username"]).toBe("Ada Example");
  });
});

describe("the way back", () => {
  test("cannot be walked twice", async () => {
    const browser = newBrowser();
    const url = await comeBack(browser, "lise");
    expect(await finish(browser, url)).toBe("/console");
    const account = await whoIs(browser);
    expect(await finish(browser, url)).toBe(refused);
    // Whoever is signed in still is.
    expect(await whoIs(browser)).toEqual(account);
  });

  test("in another browser leads nowhere, and stays open for its own (rule CALLER-12)", async () => {
    const [own, thief] = [newBrowser(), newBrowser()];
    const url = await comeBack(own, "mary");
    await comeBack(thief, "mallory");
    expect(await finish(thief, url)).toBe(refused);
    await expectNobody(thief);
    expect(await finish(own, url)).toBe("/console");
  });

  test("without the browser's cookie leads nowhere", async () => {
    const browser = newBrowser();
    const url = await comeBack(browser, "noor");
    browser.setCookie("__Host-sign-in", undefined);
    expect(await finish(browser, url)).toBe(refused);
    await expectNobody(browser);
  });

  test("is closed after ten minutes", async () => {
    const late = await openRig({ baseUrl, oidc: provider.client, now: new Date() });
    try {
      const browser = createBrowser({ origin: baseUrl, servedBy: late.publicUrl });
      const { url } = await browser.visit(startPath, { stopBefore: isCallback });
      late.clock.advance(oidcAttemptLifeMs);
      expect(await finish(browser, url)).toBe(refused);
      expect(late.logLines.join("\n")).toContain('"rule":"state"');
    } finally {
      await late.close();
    }
  });

  test.each<[string, (url: URL) => void]>([
    ["another state", (url) => url.searchParams.set("state", "A".repeat(43))],
    ["no state", (url) => url.searchParams.delete("state")],
    ["the state twice", (url) => url.searchParams.append("state", "A".repeat(43))],
    ["another code", (url) => url.searchParams.set("code", "A".repeat(43))],
    ["no code", (url) => url.searchParams.delete("code")],
    ["another issuer", (url) => url.searchParams.set("iss", "https://evil.example")],
    ["no issuer, though this one says that it sends it", (url) => url.searchParams.delete("iss")],
    ["an error", (url) => url.searchParams.set("error", "access_denied")],
    ["nothing", (url) => void (url.search = "")],
  ])("with %s leads nowhere", async (_name, change) => {
    const browser = newBrowser();
    const url = await comeBack(browser, "rosalind");
    change(url);
    expect(await finish(browser, url)).toBe(refused);
    await expectNobody(browser);
  });

  test("with a code that was made for another browser's challenge leads nowhere", async () => {
    const [own, thief] = [newBrowser(), newBrowser()];
    const stolen = await comeBack(own, "sofia");
    const url = await comeBack(thief, "thea");
    url.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    expect(await finish(thief, url)).toBe(refused);
    await expectNobody(thief);
  });

  test("with a code that was made without a challenge leads nowhere", async () => {
    const browser = newBrowser();
    provider.person.subject = "ursula";
    const { url: asked } = await browser.visit(startPath, {
      stopBefore: ({ origin }) => origin === provider.client.issuer,
    });
    asked.searchParams.delete("code_challenge");
    asked.searchParams.delete("code_challenge_method");
    const { url } = await browser.visit(asked.href, { stopBefore: isCallback });
    expect(url.searchParams.get("code")).not.toBeNull();
    expect(await finish(browser, url)).toBe(refused);
    await expectNobody(browser);
  });

  test("that a program walks answers it with the error envelope", async () => {
    const answer = await rig.call("GET", `${callbackPath}?code=c&state=s`);
    expect(refusalOf(answer)).toBe("401 OIDC_SIGN_IN_REFUSED");
  });

  test("is open to another site's redirect, which the way there is not", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const back = await rig.call("GET", `${callbackPath}?code=c&state=s`, { headers });
    expect(refusalOf(back)).toBe("401 OIDC_SIGN_IN_REFUSED");
    const there = await rig.call("GET", startPath, { headers });
    expect(refusalOf(there)).toBe("403 CROSS_SITE_REQUEST");
  });
});
