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

describe("sign-in", () => {
  test("works with a wallet that signs the server's own message", async () => {
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

  test("offers only the configured methods; single sign-on is a link and shows its failure once", async () => {
    const { context, openTab } = await system.createUser();
    await context.route("**/console/api/session/methods", (route) =>
      route.fulfill(createJsonResponse(200, { methods: ["oidc"] })),
    );
    const tab = await openTab();
    await tab.goTo(`${system.origin}/console?error=OIDC_ISSUER_UNAVAILABLE`);
    await tab.waitForText("Your company's sign-in isn't responding.");
    const companyLink = tab.page.getByRole("link", { name: "Sign in with company account" });
    expect(await companyLink.getAttribute("href")).toBe("/console/api/session/oidc");
    expect(await tab.readText()).not.toMatch(/Ethereum|passkey|operator/);
    expect(tab.page.url()).toBe(`${system.origin}/console`);
    for (const code of ["<img src=x>", "constructor"]) {
      await tab.goTo(`${system.origin}/console?error=${encodeURIComponent(code)}`);
      await tab.waitForText("We couldn't sign you in. Try again.");
    }
  });

  test("by a link shows which account it signs out and lets the user stay, and reports a used link", async () => {
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

describe("a call that requires a new proof of presence", () => {
  test("is repeated after a new sign-in link proves presence; another user's link does not", async () => {
    const { tab } = await signUpWithStalePresence(system, "dora");
    const otherSignInUrl = await system.createSignInUrl("edna");
    await tab.type("Confirm", otherSignInUrl);
    await tab.click("Confirm");
    await tab.waitForText("This sign-in method belongs to a different account.");
    await tab.type("Confirm", await system.createNewSignInUrl("dora"));
    await tab.click("Confirm");
    await tab.waitForText("Your new API key");
    expect(await tab.readText()).not.toContain("Confirm it's you");
  });
});

describe("sessions and errors:", () => {
  test("signing out in one tab signs out all tabs", async () => {
    const { goTo, openTab, tab } = await system.signUp("hal");
    await goTo("/keys");
    const otherTab = await openTab();
    await otherTab.goTo(`${system.origin}/console/webhooks`);
    await otherTab.waitForText("Your webhook endpoints will appear here.");
    await otherTab.click("Sign out");
    await tab.waitForText("You are not signed in.");
    expect(await tab.readText()).not.toContain("API key");
  });

  test("rate limits, server failures and lost connections have separate messages", async () => {
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
    await tab.waitForText("Try again in 7 s.");
    await tab.click("Create API key");
    await tab.waitForText("Something went wrong on our side.");
    await context.setOffline(true);
    await tab.waitForText("You are offline.");
    await tab.click("Create API key");
    await tab.waitForText("We couldn't reach the server.");
    await context.setOffline(false);
    await tab.page.getByText("You are offline.").waitFor({ state: "hidden" });
    await tab.click("Create API key");
    await tab.waitForText("Your new API key");
  });
});

describe("a tab with an outdated version", () => {
  test("reloads at the next change of view, but only once", async () => {
    const { context, goTo, tab } = await system.signUp("lea");
    await goTo("");
    await tab.waitForText("Finish setup");
    await tab.page.evaluate("window.isOld = true");
    let versionRequestCount = 0;
    await context.route("**/console/version", (route) => {
      versionRequestCount += 1;
      return route.fulfill({ body: "0000000000000000" });
    });
    await tab.page.getByRole("link", { name: "API keys" }).click();
    await tab.page.waitForEvent("load");
    await tab.waitForText("Your API keys will appear here.");
    expect(await tab.page.evaluate("window.isOld")).toBeUndefined();
    await tab.page.evaluate("window.isOld = true");
    await tab.page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await tab.waitForText("Your webhook endpoints will appear here.");
    expect(versionRequestCount).toBeGreaterThan(1);
    expect(await tab.page.evaluate("window.isOld")).toBe(true);
  });
});
