import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createBrowser, type Browser } from "../testing/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../testing/identity-provider.ts";
import { createRig, summarizeResponse, type Rig, parseToken } from "../testing/create-rig.ts";

const baseUrl = "https://console.example";
const sessionPath = "/console/api/session";
const startPath = `${sessionPath}/oidc`;
const linkPath = `${startPath}?link=true`;
const callbackPath = `${startPath}/callback`;
const sessionCookies = ["__Secure-session", "__Host-session"];

let provider: IdentityProvider;
let rig: Rig;
beforeAll(async () => {
  provider = await startIdentityProvider({ redirectUri: `${baseUrl}${callbackPath}` });
  rig = await createRig({ baseUrl, oidc: provider.client, now: new Date() });
});
afterAll(async () => {
  await rig.close();
  await provider.close();
});

const isConsoleUrl = ({ pathname }: URL): boolean => pathname === "/console";
const isCallbackUrl = ({ pathname }: URL): boolean => pathname === callbackPath;

/**
 * Puts the session from a `Cookie` header into a browser. Without a session in the header, removes
 * the browser's session.
 */
const setSession = (browser: Browser, cookieHeader: string): void => {
  for (const name of sessionCookies) {
    browser.setCookie(name, new RegExp(`${name}=([^;]+)`).exec(cookieHeader)?.[1]);
  }
};

/** Returns a browser in which the account is signed in by an operator's link. */
const createSignedInBrowser = async (userId?: string) => {
  const signInLink =
    userId === undefined
      ? undefined
      : await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  const newAccount = signInLink === undefined ? await rig.createAccount() : undefined;
  const token = newAccount?.token ?? parseToken(signInLink?.body["signInUrl"]);
  const cookie = await rig.signIn(token);
  const browser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
  setSession(browser, cookie);
  return { browser, userId: newAccount?.userId ?? userId ?? "" };
};

const followSignIn = async (browser: Browser, path: string, subject: string): Promise<string> => {
  provider.user.subject = subject;
  const { url } = await browser.visit(path, { stopBefore: isConsoleUrl });
  return `${url.pathname}${url.search}`;
};

const listIdentities = async (browser: Browser) => {
  const cookie = browser.cookies();
  const { body } = await rig.call("GET", "/console/api/identities", { cookie });
  return body["data"] as { id: string; method: string; subject: string }[];
};

const getAccountId = async (browser: Browser) => {
  const { body } = await rig.call("GET", sessionPath, { cookie: browser.cookies() });
  return body["id"];
};

describe("GET /console/api/session/oidc?link=true", () => {
  test("links a subject to the signed-in account without changing the session", async () => {
    const { browser, userId } = await createSignedInBrowser();
    const cookiesBefore = browser.cookies();
    expect(await followSignIn(browser, linkPath, "linked")).toBe("/console");
    expect(browser.cookies()).toContain(cookiesBefore);
    expect(await listIdentities(browser)).toMatchObject([{ method: "oidc", subject: "linked" }]);
    expect(await rig.readAudit(userId)).toContain("identity.linked");
    const otherBrowser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    expect(await followSignIn(otherBrowser, startPath, "linked")).toBe("/console");
    expect(await getAccountId(otherBrowser)).toBe(userId);
  });

  test("rejects a subject of another account, which stays linked there", async () => {
    const ownerBrowser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    await followSignIn(ownerBrowser, startPath, "taken");
    const { browser } = await createSignedInBrowser();
    expect(await followSignIn(browser, linkPath, "taken")).toBe("/console?error=IDENTITY_TAKEN");
    expect(await listIdentities(browser)).toEqual([]);
    expect(await listIdentities(ownerBrowser)).toMatchObject([{ subject: "taken" }]);
  });

  test("rejects a request without a session before any redirect", async () => {
    const response = await rig.call("GET", linkPath);
    expect(summarizeResponse(response)).toBe("401 UNAUTHENTICATED");
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(summarizeResponse(await rig.call("GET", `${startPath}?link=perhaps`))).toBe("422 enum");
  });

  test.each([
    ["no user", undefined],
    ["another account", "another"],
    ["the same account in another session", "same"],
  ])("links nothing when %s is signed in at the callback", async (_name, sessionKind) => {
    const { browser, userId } = await createSignedInBrowser();
    provider.user.subject = `way back ${sessionKind}`;
    const { url } = await browser.visit(linkPath, { stopBefore: isCallbackUrl });
    const laterSession = await createSignedInBrowser(sessionKind === "same" ? userId : undefined);
    setSession(browser, sessionKind === undefined ? "" : laterSession.browser.cookies());
    const { url: finalUrl } = await browser.visit(url.href, { stopBefore: isConsoleUrl });
    const code = sessionKind === undefined ? "UNAUTHENTICATED" : "OIDC_SIGN_IN_REFUSED";
    expect(finalUrl.search).toBe(`?error=${code}`);
    expect(await listIdentities(laterSession.browser)).toEqual([]);
  });

  test("does not link an attacker's subject when a victim opens the attacker's callback URL", async () => {
    const attacker = await createSignedInBrowser();
    provider.user.subject = "the attacker's";
    const { url } = await attacker.browser.visit(linkPath, { stopBefore: isCallbackUrl });
    const victim = await createSignedInBrowser();
    await victim.browser.visit(linkPath, { stopBefore: isCallbackUrl });
    const { url: finalUrl } = await victim.browser.visit(url.href, { stopBefore: isConsoleUrl });
    expect(finalUrl.search).toBe("?error=OIDC_SIGN_IN_REFUSED");
    expect(await listIdentities(victim.browser)).toEqual([]);
  });
});
