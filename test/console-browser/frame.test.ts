import { presenceMsMax } from "@payment-links/identity";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";
import { expect } from "@jest/globals";
import { createConsoleWallet } from "../rig/console-wallet.ts";
import { requireChromium } from "../rig/require-chromium.ts";

const { describe, describeSoak, test } = requireChromium();

const system = useConsole();

/** A stubbed error response of the service. */
const createErrorResponse = (status: number, code: string, headers = {}) => ({
  status,
  headers,
  json: { errors: [{ code, message: `the service reports ${code}` }] },
});

/** Signs up a user. Creating an API key fails, because the user's proof of presence is too old. */
const signUpWithStalePresence = async (handle: string): Promise<ConsoleUser> => {
  const user = await system.signUp(handle);
  await user.goTo("/keys");
  system.clock.advance(presenceMsMax);
  await user.tab.click("Create API key");
  await user.tab.type("Create API key", "shop");
  await user.tab.clickInDialog("Create API key", "Confirm it's you");
  return user;
};

describe("sign-in", () => {
  test("works with a wallet that signs the server's own message", async () => {
    const { context, openTab } = await system.createUser();
    const wallet = await createConsoleWallet(context);
    const tab = await openTab();
    await tab.goTo(`${system.origin}/console`);
    await tab.click("Sign in with Ethereum", "Signed in as");
    expect(wallet.signedMessages).toHaveLength(1);
    expect(wallet.signedMessages[0]).toContain(wallet.address);
  });

  test("offers only the configured methods; single sign-on is a link and shows its failure once", async () => {
    const { context, openTab } = await system.createUser();
    await context.route("**/console/api/session/methods", (route) =>
      route.fulfill({ json: { methods: ["oidc"] } }),
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
    await tab.goTo(url, "You are signed in as bob. Signing in as carol signs bob out.");
    await tab.click("Stay signed in as bob", "Signed in as bob");
    await tab.goTo(`${url}&again`);
    await tab.click("Sign in as carol", "Add a passkey");
    // A click would be the second one at the same place, which the console ignores.
    await tab.page.getByRole("button", { name: "Not now" }).press("Enter");
    await tab.waitForText("Signed in as carol");
    await tab.goTo(url, "The sign-in link is not valid or has been used.");
    await tab.click("Stay signed in as carol", "Signed in as carol");
  });
});

describeSoak("sign-in", () => {
  test("explains a missing wallet and a rejected signature", async () => {
    const tabWithoutWallet = await (await system.createUser()).openTab();
    await tabWithoutWallet.goTo(`${system.origin}/console`);
    await tabWithoutWallet.click("Sign in with Ethereum");
    await tabWithoutWallet.waitForText("No Ethereum wallet found in this browser.");
    const { context, openTab } = await system.createUser();
    await createConsoleWallet(context, { rejectsSigning: true });
    const tabWithRejectingWallet = await openTab();
    await tabWithRejectingWallet.goTo(`${system.origin}/console`);
    await tabWithRejectingWallet.click("Sign in with Ethereum");
    await tabWithRejectingWallet.waitForText("The wallet didn't sign the request.");
  });
});

describe("a call that requires a new proof of presence", () => {
  test("is repeated after a new sign-in link proves presence; another user's link does not", async () => {
    const { tab } = await signUpWithStalePresence("dora");
    const otherSignInUrl = await system.createSignInUrl("edna");
    await tab.type("Confirm", otherSignInUrl);
    await tab.click("Confirm", "This sign-in method belongs to a different account.");
    await tab.type("Confirm", await system.createNewSignInUrl("dora"));
    await tab.click("Confirm", "Your new API key");
    expect(await tab.readText()).not.toContain("Confirm it's you");
  });
});

describeSoak("a call that requires a new proof of presence", () => {
  test("is not made if the user declines, and the form is unchanged", async () => {
    const { context, tab } = await signUpWithStalePresence("fay");
    await tab.click("Not now", "Nothing was changed.");
    const response = await context.request.get(`${system.origin}/console/api/api-keys`);
    expect(await response.json()).toEqual({ data: [] });
    expect(await tab.page.getByLabel("Name").inputValue()).toBe("shop");
  });

  test("continues after another tab has proven presence at the identity provider", async () => {
    const { context, openTab, tab } = await signUpWithStalePresence("gil");
    await context.request.post(`${system.origin}/console/api/session/presence`, {
      data: { token: (await system.createNewSignInUrl("gil")).split("token=")[1] },
      headers: { origin: system.origin },
    });
    const providerTab = await openTab();
    await providerTab.goTo(`${system.origin}/console?presence=proven`, "Continue in the other tab");
    expect(providerTab.page.url()).toBe(`${system.origin}/console`);
    await tab.waitForText("Your new API key");
  });
});

describe("sessions and errors:", () => {
  test("signing out in one tab signs out all tabs", async () => {
    const { goTo, openTab, tab } = await system.signUp("hal");
    await goTo("/keys");
    const otherTab = await openTab();
    await otherTab.goTo(`${system.origin}/console/webhooks`);
    await otherTab.waitForText("Your webhook endpoints will appear here.");
    await otherTab.chooseInMenu("Signed in as hal", "Sign out");
    await tab.waitForText("Sign in to Payment Links");
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
    await tab.click("Create API key");
    await tab.type("Create API key", "shop");
    await tab.clickInDialog("Create API key", "Try again in 7 s.");
    await tab.clickInDialog("Create API key", "Something went wrong on our side.");
    await context.setOffline(true);
    await tab.waitForText("You are offline.");
    await tab.clickInDialog("Create API key", "We couldn't reach the server.");
    await context.setOffline(false);
    await tab.page.getByText("You are offline.").waitFor({ state: "hidden" });
    await tab.clickInDialog("Create API key", "Your new API key");
  });
});

describeSoak("sessions and errors:", () => {
  test("a session that ended elsewhere leads to the sign-in page at the next call", async () => {
    const { context, goTo, tab } = await system.signUp("ida");
    await goTo("/keys", "Your API keys will appear here.");
    await context.clearCookies();
    await tab.click("Create API key");
    await tab.type("Create API key", "shop");
    await tab.clickInDialog("Create API key", "Sign in to Payment Links");
  });

  test("a view that cannot load shows the reason and can be loaded again", async () => {
    const { context, goTo, tab } = await system.signUp("kim");
    await context.route("**/console/api/webhook-endpoints", (route) =>
      route.fulfill(createErrorResponse(403, "ACCOUNT_SUSPENDED")),
    );
    await goTo("/webhooks", "Your account is suspended. Contact your operator.");
    await context.unroute("**/console/api/webhook-endpoints");
    await tab.click("Try again", "Your webhook endpoints will appear here.");
  });
});

describe("a tab with an outdated version", () => {
  test("reloads at the next change of view, but only once", async () => {
    const { context, goTo, tab } = await system.signUp("lea");
    // A tab that reloaded over 10 seconds ago can reload again.
    await context.addInitScript(`Date.now = () => ${Date.now()};`);
    await goTo("", "Finish setup");
    await tab.page.evaluate("window.isOld = true");
    let versionRequestCount = 0;
    await context.route("**/console/version", (route) => {
      versionRequestCount += 1;
      return route.fulfill({ body: "0000000000000000" });
    });
    const load = tab.page.waitForEvent("load");
    await tab.page.getByRole("link", { name: "API keys" }).click();
    await load;
    await tab.waitForText("Your API keys will appear here.");
    expect(await tab.page.evaluate("window.isOld")).toBeUndefined();
    await tab.page.evaluate("window.isOld = true");
    await tab.page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await tab.waitForText("Your webhook endpoints will appear here.");
    expect(versionRequestCount).toBeGreaterThan(1);
    expect(await tab.page.evaluate("window.isOld")).toBe(true);
  });
});

describeSoak("a tab with an outdated version", () => {
  test("reloads if the file of a view no longer exists", async () => {
    const { context, goTo, tab } = await system.signUp("mia");
    await goTo("", "Finish setup");
    let isFileMissing = true;
    await context.route(/assets\/keys-/, (route) => {
      if (!isFileMissing) return route.continue();
      isFileMissing = false;
      return route.fulfill({ status: 404 });
    });
    await tab.page.getByRole("link", { name: "API keys" }).click();
    await tab.waitForText("Your API keys will appear here.");
    expect(isFileMissing).toBe(false);
  });
});
