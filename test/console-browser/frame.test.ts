import { expect } from "@jest/globals";
import { json, openStale, refused } from "../rig/console-frame.ts";
import { openWallet } from "../rig/open-console-wallet.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

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
  test("is made again once a new sign-in link proves it; somebody else's does not", async () => {
    const { tab } = await openStale(system, "dora");
    const other = await system.makeSignInUrl("edna");
    await tab.type("Prove by the link", other);
    await tab.click("Prove by the link");
    await tab.see("This proves somebody else than who is signed in.");
    await tab.type("Prove by the link", await system.makeNewUrl("dora"));
    await tab.click("Prove by the link");
    await tab.see("Your new API key");
    expect(await tab.text()).not.toContain("Is it still you?");
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
});
