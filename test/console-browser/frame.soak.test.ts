import { expect } from "@jest/globals";
import { signUpWithStalePresence, createErrorResponse } from "../rig/console-frame.ts";
import { createConsoleWallet } from "../rig/console-wallet.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("sign-in", () => {
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
  test("is not made if the user declines, and the form is unchanged", async () => {
    const { context, tab } = await signUpWithStalePresence(system, "fay");
    await tab.click("Not now");
    await tab.waitForText("Nothing was changed.");
    const response = await context.request.get(`${system.origin}/console/api/api-keys`);
    expect(await response.json()).toEqual({ data: [] });
    expect(await tab.page.getByLabel("Name").inputValue()).toBe("shop");
  });

  test("continues after another tab has proven presence at the identity provider", async () => {
    const { context, openTab, tab } = await signUpWithStalePresence(system, "gil");
    await context.request.post(`${system.origin}/console/api/session/presence`, {
      data: { token: (await system.createNewSignInUrl("gil")).split("token=")[1] },
      headers: { origin: system.origin },
    });
    const providerTab = await openTab();
    await providerTab.goTo(`${system.origin}/console?presence=proven`);
    await providerTab.waitForText("Continue in the other tab");
    expect(providerTab.page.url()).toBe(`${system.origin}/console`);
    await tab.waitForText("Your new API key");
  });
});

describe("sessions and errors:", () => {
  test("a session that ended elsewhere leads to the sign-in page at the next call", async () => {
    const { context, goTo, tab } = await system.signUp("ida");
    await goTo("/keys");
    await tab.waitForText("Your API keys will appear here.");
    await context.clearCookies();
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.waitForText("You are not signed in.");
  });

  test("a view that cannot load shows the reason and can be loaded again", async () => {
    const { context, goTo, tab } = await system.signUp("kim");
    await context.route("**/console/api/webhook-endpoints", (route) =>
      route.fulfill(createErrorResponse(403, "ACCOUNT_SUSPENDED")),
    );
    await goTo("/webhooks");
    await tab.waitForText("Your account is suspended. Contact your operator.");
    await context.unroute("**/console/api/webhook-endpoints");
    await tab.click("Try again");
    await tab.waitForText("Your webhook endpoints will appear here.");
  });
});

describe("a tab with an outdated version", () => {
  test("reloads if the file of a view no longer exists", async () => {
    const { context, goTo, tab } = await system.signUp("mia");
    await goTo("");
    await tab.waitForText("Finish setup");
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
