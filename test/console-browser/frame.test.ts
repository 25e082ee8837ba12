import { expect } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { openWallet } from "../rig/open-console-wallet.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

const json = (status: number, body: object, headers = {}) => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const refused = (status: number, code: string, headers = {}) =>
  json(status, { errors: [{ code, message: `told: ${code}` }] }, headers);

describe("the ways in", () => {
  test("a wallet signs the server's own message, and signs in by it", async () => {
    const { context, openTab, faults } = await system.openPerson();
    const wallet = await openWallet(context);
    const tab = await openTab();
    await tab.goTo(`${system.origin}/console`);
    await tab.click("Sign in with Ethereum");
    await tab.see("Signed in as");
    expect(wallet.signed).toHaveLength(1);
    expect(wallet.signed[0]).toContain(wallet.address);
    expect(faults).toEqual([]);
  });

  test("without a wallet, or with one that does not sign, it is said", async () => {
    const without = await (await system.openPerson()).openTab();
    await without.goTo(`${system.origin}/console`);
    await without.click("Sign in with Ethereum");
    await without.see("There is no Ethereum wallet in this browser.");
    const { context, openTab } = await system.openPerson();
    await openWallet(context, { refuses: true });
    const refusing = await openTab();
    await refusing.goTo(`${system.origin}/console`);
    await refusing.click("Sign in with Ethereum");
    await refusing.see("The wallet did not sign.");
  });

  test("are those that there are; a company's sign-in is a link, and says why it failed, once", async () => {
    const { context, openTab } = await system.openPerson();
    await context.route("**/console/api/session/methods", (route) =>
      route.fulfill(json(200, { methods: ["oidc"] })),
    );
    const tab = await openTab();
    await tab.goTo(`${system.origin}/console?error=OIDC_ISSUER_UNAVAILABLE`);
    await tab.see("Your company's sign-in does not answer right now.");
    const company = tab.page.getByRole("link", { name: "Sign in with your company" });
    expect(await company.getAttribute("href")).toBe("/console/api/session/oidc");
    expect(await tab.text()).not.toMatch(/Ethereum|passkey|operator/);
    expect(tab.page.url()).toBe(`${system.origin}/console`);
    for (const code of ["<img src=x>", "constructor"]) {
      await tab.goTo(`${system.origin}/console?error=${encodeURIComponent(code)}`);
      await tab.see("Signing in did not succeed.");
    }
  });

  test("a link tells who is signed out by it and lets them stay; a used one is told to be so", async () => {
    const { tab } = await system.signUp("bob");
    const url = await system.makeSignInUrl("carol");
    await tab.goTo(url);
    await tab.see("You are signed in as bob. Signing in as carol signs bob out.");
    await tab.click("Stay signed in as bob");
    await tab.see("Signed in as bob");
    await tab.goTo(`${url}&again`);
    await tab.click("Sign in as carol");
    await tab.see("Signed in as carol");
    await tab.goTo(url);
    await tab.see("The sign-in link is not valid or has been used.");
    await tab.click("Stay signed in as carol");
    await tab.see("Signed in as carol");
  });
});

describe("a call that needs a fresh proof of presence", () => {
  const stale = async (handle: string) => {
    const person = await system.signUp(handle);
    await person.goTo("/keys");
    system.clock.advance(presenceMsMax);
    await person.tab.type("Create API key", "shop");
    await person.tab.click("Create API key");
    await person.tab.see("Is it still you?");
    return person;
  };

  test("is made again once a new sign-in link proves it; somebody else's does not", async () => {
    const { tab } = await stale("dora");
    const other = await system.makeSignInUrl("edna");
    await tab.type("Prove by the link", other);
    await tab.click("Prove by the link");
    await tab.see("This proves somebody else than who is signed in.");
    await tab.type("Prove by the link", await system.makeNewUrl("dora"));
    await tab.click("Prove by the link");
    await tab.see("Your new API key");
    expect(await tab.text()).not.toContain("Is it still you?");
  });

  test("is not made for a person who would rather not, and the form is as it was", async () => {
    const { context, tab } = await stale("fay");
    await tab.click("Not now");
    await tab.see("Nothing was changed.");
    const keys = await context.request.get(`${system.origin}/console/api/api-keys`);
    expect(await keys.json()).toEqual({ data: [] });
    expect(await tab.page.getByLabel("Name").inputValue()).toBe("shop");
  });

  test("goes on when another tab has proven it at the identity provider", async () => {
    const { context, openTab, tab } = await stale("gil");
    await context.request.post(`${system.origin}/console/api/session/presence`, {
      data: { token: (await system.makeNewUrl("gil")).split("token=")[1] },
      headers: { origin: system.origin },
    });
    const provider = await openTab();
    await provider.goTo(`${system.origin}/console?presence=proven`);
    await provider.see("Go on in the other tab");
    expect(provider.page.url()).toBe(`${system.origin}/console`);
    await tab.see("Your new API key");
  });
});

describe("what can go wrong has its words", () => {
  test("signed out in one tab is signed out in all", async () => {
    const { goTo, openTab, tab } = await system.signUp("hal");
    await goTo("/keys");
    const other = await openTab();
    await other.goTo(`${system.origin}/console/webhooks`);
    await other.see("No endpoints yet.");
    await other.click("Sign out");
    await tab.see("You are not signed in.");
    expect(await tab.text()).not.toContain("API key");
  });

  test("a session that ended elsewhere leads to the way in, at the next call", async () => {
    const { context, goTo, tab } = await system.signUp("ida");
    await goTo("/keys");
    await tab.see("No keys yet.");
    await context.clearCookies();
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.see("You are not signed in.");
  });

  test("too many requests, a failure of the server and a lost connection, each its own", async () => {
    const { context, goTo, tab } = await system.signUp("joan");
    await goTo("/keys");
    const answers = [refused(429, "429", { "Retry-After": "7" }), refused(500, "INTERNAL_ERROR")];
    await context.route("**/console/api/api-keys", (route) => {
      const answer = route.request().method() === "POST" ? answers.shift() : undefined;
      return answer === undefined ? route.continue() : route.fulfill(answer);
    });
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.see("Please try again in 7 s.");
    await tab.click("Create API key");
    await tab.see("Something failed on the server's side.");
    await context.setOffline(true);
    await tab.see("You are offline.");
    await tab.click("Create API key");
    await tab.see("The server cannot be reached.");
    await context.setOffline(false);
    await tab.page.getByText("You are offline.").waitFor({ state: "hidden" });
    await tab.click("Create API key");
    await tab.see("Your new API key");
  });

  test("a view that cannot be read says so, and reads again", async () => {
    const { context, goTo, tab } = await system.signUp("kim");
    await context.route("**/console/api/webhook-endpoints", (route) =>
      route.fulfill(refused(403, "ACCOUNT_SUSPENDED")),
    );
    await goTo("/webhooks");
    await tab.see("Your account is suspended. Ask your operator.");
    await context.unroute("**/console/api/webhook-endpoints");
    await tab.click("Try again");
    await tab.see("No endpoints yet.");
  });
});

describe("a tab that is older than what is deployed", () => {
  test("reloads at the next change of view, and once only", async () => {
    const { context, goTo, tab } = await system.signUp("lea");
    await goTo("");
    await tab.see("Set up");
    await tab.page.evaluate("window.isOld = true");
    let asked = 0;
    await context.route("**/console/version", (route) => {
      asked += 1;
      return route.fulfill({ body: "0000000000000000" });
    });
    await tab.page.getByRole("link", { name: "API keys" }).click();
    await tab.page.waitForEvent("load");
    await tab.see("No keys yet.");
    expect(await tab.page.evaluate("window.isOld")).toBeUndefined();
    await tab.page.evaluate("window.isOld = true");
    await tab.page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await tab.see("No endpoints yet.");
    expect(asked).toBeGreaterThan(1);
    expect(await tab.page.evaluate("window.isOld")).toBe(true);
  });

  test("reloads where the file of a view is gone", async () => {
    const { context, goTo, tab } = await system.signUp("mia");
    await goTo("");
    await tab.see("Set up");
    let isGone = true;
    await context.route(/assets\/keys-/, (route) => {
      if (!isGone) return route.continue();
      isGone = false;
      return route.fulfill({ status: 404 });
    });
    await tab.page.getByRole("link", { name: "API keys" }).click();
    await tab.see("No keys yet.");
    expect(isGone).toBe(false);
  });
});
