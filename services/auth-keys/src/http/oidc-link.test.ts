import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createBrowser, type Browser } from "../testing/browser.ts";
import { type IdentityProvider, openIdentityProvider } from "../testing/identity-provider.ts";
import { openRig, refusalOf, type Rig, tokenOf } from "../testing/open-rig.ts";

const baseUrl = "https://console.example";
const sessionPath = "/console/api/session";
const startPath = `${sessionPath}/oidc`;
const linkPath = `${startPath}?link=true`;
const callbackPath = `${startPath}/callback`;
const sessionCookies = ["__Secure-session", "__Host-session"];

let provider: IdentityProvider;
let rig: Rig;
beforeAll(async () => {
  provider = await openIdentityProvider({ redirectUri: `${baseUrl}${callbackPath}` });
  rig = await openRig({ baseUrl, oidc: provider.client, now: new Date() });
});
afterAll(async () => {
  await rig.close();
  await provider.close();
});

const isConsole = ({ pathname }: URL): boolean => pathname === "/console";
const isCallback = ({ pathname }: URL): boolean => pathname === callbackPath;

/** Puts the session of a `Cookie` header into a browser, or takes the browser's away where it has none. */
const setSession = (browser: Browser, header: string): void => {
  for (const name of sessionCookies) {
    browser.setCookie(name, new RegExp(`${name}=([^;]+)`).exec(header)?.[1]);
  }
};

/** A browser in which the account is signed in by an operator's link. */
const signedIn = async (userId?: string) => {
  const link =
    userId === undefined
      ? undefined
      : await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  const made = link === undefined ? await rig.makeAccount() : undefined;
  const token = made?.token ?? tokenOf(link?.body["signInUrl"]);
  const cookie = await rig.signIn(token);
  const browser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
  setSession(browser, cookie);
  return { browser, userId: made?.userId ?? userId ?? "" };
};

const walk = async (browser: Browser, path: string, subject: string): Promise<string> => {
  provider.person.subject = subject;
  const { url } = await browser.visit(path, { stopBefore: isConsole });
  return `${url.pathname}${url.search}`;
};

const identitiesOf = async (browser: Browser) => {
  const cookie = browser.cookies();
  const { body } = await rig.call("GET", "/console/api/identities", { cookie });
  return body["data"] as { id: string; method: string; subject: string }[];
};

const accountOf = async (browser: Browser) => {
  const { body } = await rig.call("GET", sessionPath, { cookie: browser.cookies() });
  return body["id"];
};

describe("GET /console/api/session/oidc?link=true", () => {
  test("links a subject to the account that is signed in, by the same session", async () => {
    const { browser, userId } = await signedIn();
    const before = browser.cookies();
    expect(await walk(browser, linkPath, "linked")).toBe("/console");
    expect(browser.cookies()).toContain(before);
    expect(await identitiesOf(browser)).toMatchObject([{ method: "oidc", subject: "linked" }]);
    expect(await rig.readAudit(userId)).toContain("identity.linked");
    const other = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    expect(await walk(other, startPath, "linked")).toBe("/console");
    expect(await accountOf(other)).toBe(userId);
  });

  test("given a subject of another account, says so and leaves it there", async () => {
    const owner = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    await walk(owner, startPath, "taken");
    const { browser } = await signedIn();
    expect(await walk(browser, linkPath, "taken")).toBe("/console?error=IDENTITY_TAKEN");
    expect(await identitiesOf(browser)).toEqual([]);
    expect(await identitiesOf(owner)).toMatchObject([{ subject: "taken" }]);
  });

  test("without a session is refused before anybody is sent anywhere", async () => {
    const answer = await rig.call("GET", linkPath);
    expect(refusalOf(answer)).toBe("401 UNAUTHENTICATED");
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(refusalOf(await rig.call("GET", `${startPath}?link=perhaps`))).toBe("422 enum");
  });

  test.each([
    ["nobody", undefined],
    ["another account", "another"],
    ["the same account, by another session", "same"],
  ])("where %s is signed in at the way back, links nothing", async (_name, who) => {
    const { browser, userId } = await signedIn();
    provider.person.subject = `way back ${who}`;
    const { url } = await browser.visit(linkPath, { stopBefore: isCallback });
    const later = await signedIn(who === "same" ? userId : undefined);
    setSession(browser, who === undefined ? "" : later.browser.cookies());
    const { url: end } = await browser.visit(url.href, { stopBefore: isConsole });
    const code = who === undefined ? "UNAUTHENTICATED" : "OIDC_SIGN_IN_REFUSED";
    expect(end.search).toBe(`?error=${code}`);
    expect(await identitiesOf(later.browser)).toEqual([]);
  });

  test("a person cannot be made to link another's subject by a link of theirs", async () => {
    const attacker = await signedIn();
    provider.person.subject = "the attacker's";
    const { url } = await attacker.browser.visit(linkPath, { stopBefore: isCallback });
    const victim = await signedIn();
    await victim.browser.visit(linkPath, { stopBefore: isCallback });
    const { url: end } = await victim.browser.visit(url.href, { stopBefore: isConsole });
    expect(end.search).toBe("?error=OIDC_SIGN_IN_REFUSED");
    expect(await identitiesOf(victim.browser)).toEqual([]);
  });
});
