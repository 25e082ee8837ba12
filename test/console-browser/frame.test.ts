import { expect } from "@jest/globals";
import {
  createJsonResponse,
  signUpWithStalePresence,
  createErrorResponse,
} from "../rig/console-frame.ts";
import { createConsoleWallet } from "../rig/console-wallet.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("the ways in", () => {
  test("a wallet signs the server's own message, and signs in by it", async () => {
    const { context, openTab, violations } = await system.createUser();
    const wallet = await createConsoleWallet(context);
    const tab = await openTab();
    await tab.goTo(`${system.origin}/console`);
    await tab.click("Sign in with Ethereum");
    await tab.waitForText("Signed in as");
    expect(wallet.signedMessages).toHaveLength(1);
    expect(wallet.signedMessages[0]).toContain(wallet.address);
    expect(violations).toEqual([]);
  });

  test("are those that there are; a company's sign-in is a link, and says why it failed, once", async () => {
    const { context, openTab } = await system.createUser();
    await context.route("**/console/api/session/methods", (route) =>
      route.fulfill(createJsonResponse(200, { methods: ["oidc"] })),
    );
    const tab = await openTab();
    await tab.goTo(`${system.origin}/console?error=OIDC_ISSUER_UNAVAILABLE`);
    await tab.waitForText("Your company's sign-in does not answer right now.");
    const companyLink = tab.page.getByRole("link", { name: "Sign in with your company" });
    expect(await companyLink.getAttribute("href")).toBe("/console/api/session/oidc");
    expect(await tab.readText()).not.toMatch(/Ethereum|passkey|operator/);
    expect(tab.page.url()).toBe(`${system.origin}/console`);
    for (const code of ["<img src=x>", "constructor"]) {
      await tab.goTo(`${system.origin}/console?error=${encodeURIComponent(code)}`);
      await tab.waitForText("Signing in did not succeed.");
    }
  });

  test("a link tells who is signed out by it and lets them stay; a used one is told to be so", async () => {
    const { tab } = await system.signUp("bob");
    const url = await system.createSignInUrl("carol");
    await tab.goTo(url);
    await tab.waitForText("You are signed in as bob. Signing in as carol signs bob out.");
    await tab.click("Stay signed in as bob");
    await tab.waitForText("Signed in as bob");
    await tab.goTo(`${url}&again`);
    await tab.click("Sign in as carol");
    await tab.waitForText("Signed in as carol");
    await tab.goTo(url);
    await tab.waitForText("The sign-in link is not valid or has been used.");
    await tab.click("Stay signed in as carol");
    await tab.waitForText("Signed in as carol");
  });
});

describe("a call that needs a fresh proof of presence", () => {
  test("is made again once a new sign-in link proves it; somebody else's does not", async () => {
    const { tab } = await signUpWithStalePresence(system, "dora");
    const otherSignInUrl = await system.createSignInUrl("edna");
    await tab.type("Prove by the link", otherSignInUrl);
    await tab.click("Prove by the link");
    await tab.waitForText("This proves somebody else than who is signed in.");
    await tab.type("Prove by the link", await system.createNewSignInUrl("dora"));
    await tab.click("Prove by the link");
    await tab.waitForText("Your new API key");
    expect(await tab.readText()).not.toContain("Is it still you?");
  });
});

describe("what can go wrong has its words", () => {
  test("signed out in one tab is signed out in all", async () => {
    const { goTo, openTab, tab } = await system.signUp("hal");
    await goTo("/keys");
    const otherTab = await openTab();
    await otherTab.goTo(`${system.origin}/console/webhooks`);
    await otherTab.waitForText("No endpoints yet.");
    await otherTab.click("Sign out");
    await tab.waitForText("You are not signed in.");
    expect(await tab.readText()).not.toContain("API key");
  });

  test("too many requests, a failure of the server and a lost connection, each its own", async () => {
    const { context, goTo, tab } = await system.signUp("joan");
    await goTo("/keys");
    const responses = [
      createErrorResponse(429, "429", { "Retry-After": "7" }),
      createErrorResponse(500, "INTERNAL_ERROR"),
    ];
    await context.route("**/console/api/api-keys", (route) => {
      const response = route.request().method() === "POST" ? responses.shift() : undefined;
      return response === undefined ? route.continue() : route.fulfill(response);
    });
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.waitForText("Please try again in 7 s.");
    await tab.click("Create API key");
    await tab.waitForText("Something failed on the server's side.");
    await context.setOffline(true);
    await tab.waitForText("You are offline.");
    await tab.click("Create API key");
    await tab.waitForText("The server cannot be reached.");
    await context.setOffline(false);
    await tab.page.getByText("You are offline.").waitFor({ state: "hidden" });
    await tab.click("Create API key");
    await tab.waitForText("Your new API key");
  });
});

describe("a tab that is older than what is deployed", () => {
  test("reloads at the next change of view, and once only", async () => {
    const { context, goTo, tab } = await system.signUp("lea");
    await goTo("");
    await tab.waitForText("Set up");
    await tab.page.evaluate("window.isOld = true");
    let versionRequestCount = 0;
    await context.route("**/console/version", (route) => {
      versionRequestCount += 1;
      return route.fulfill({ body: "0000000000000000" });
    });
    await tab.page.getByRole("link", { name: "API keys" }).click();
    await tab.page.waitForEvent("load");
    await tab.waitForText("No keys yet.");
    expect(await tab.page.evaluate("window.isOld")).toBeUndefined();
    await tab.page.evaluate("window.isOld = true");
    await tab.page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await tab.waitForText("No endpoints yet.");
    expect(versionRequestCount).toBeGreaterThan(1);
    expect(await tab.page.evaluate("window.isOld")).toBe(true);
  });
});
