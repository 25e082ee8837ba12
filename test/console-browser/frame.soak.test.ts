import { expect } from "@jest/globals";
import { openStale, refused } from "../rig/console-frame.ts";
import { openWallet } from "../rig/open-console-wallet.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("the ways in", () => {
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
});

describe("a call that needs a fresh proof of presence", () => {
  test("is not made for a person who would rather not, and the form is as it was", async () => {
    const { context, tab } = await openStale(system, "fay");
    await tab.click("Not now");
    await tab.see("Nothing was changed.");
    const keys = await context.request.get(`${system.origin}/console/api/api-keys`);
    expect(await keys.json()).toEqual({ data: [] });
    expect(await tab.page.getByLabel("Name").inputValue()).toBe("shop");
  });

  test("goes on when another tab has proven it at the identity provider", async () => {
    const { context, openTab, tab } = await openStale(system, "gil");
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
  test("a session that ended elsewhere leads to the way in, at the next call", async () => {
    const { context, goTo, tab } = await system.signUp("ida");
    await goTo("/keys");
    await tab.see("No keys yet.");
    await context.clearCookies();
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.see("You are not signed in.");
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
