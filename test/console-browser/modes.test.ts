import { expect } from "@jest/globals";
import { walletAddress } from "../rig/create-console.ts";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const testTokenId = "usdc-base-sepolia";

const getSwitch = ({ tab: { page } }: Pick<ConsoleUser, "tab">) =>
  page.getByRole("switch", { name: "Test mode" });

/** Expects which mode a tab shows, and its URL without the origin. */
const expectMode = async (tab: ConsoleUser["tab"], path: string, text: string): Promise<void> => {
  await tab.page.waitForURL(`${system.origin}${path}`);
  await tab.waitForText(text);
  const isTest = path.startsWith("/console/test");
  expect(await getSwitch({ tab }).getAttribute("aria-checked")).toBe(String(isTest));
  expect((await tab.readText()).includes("No real money.")).toBe(isTest);
  expect((await tab.page.title()).includes("(test mode)")).toBe(isTest);
};

/** Expects that a view is accessible in light and dark, and not wider than its window. */
const expectNoFaults = async ({ page }: ConsoleUser["tab"], path: string): Promise<void> => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const faults = await findLayoutFaults(page);
    expect([path, colorScheme, faults]).toEqual([path, colorScheme, []]);
  }
};

/** Signs up an account with a wallet, a link, an API key and a webhook endpoint in each mode. */
const signUpInBothModes = async (...options: Parameters<typeof system.signUp>) => {
  const user = await system.signUp(...options);
  await user.addDefaultWallet();
  await user.call("post", "wallets", { walletAddress, tokenId: testTokenId, isDefault: true });
  const createItems = async (mode: "live" | "test") => {
    const newLink = { toAmount: "25", description: `${mode} order` };
    const link = await user.call("post", `payment-links?mode=${mode}`, newLink);
    const scopes = ["payment_link:create"];
    await user.call("post", "api-keys", { name: `${mode} key`, scopes, mode });
    const newEndpoint = { name: `${mode} endpoint`, url: "https://shop.com/hook", mode };
    const endpoint = await user.call("post", "webhook-endpoints", newEndpoint);
    return { linkId: link.id, endpointId: endpoint.id };
  };
  return { ...user, live: await createItems("live"), test: await createItems("test") };
};

describe("the test mode of the console", () => {
  test("is part of the URL, so that links, a reload, the back button and a second tab keep it (rule MODE-10)", async () => {
    const user = await system.signUp("mona");
    const { openTab, tab } = user;
    await user.goTo("/keys");
    await expectMode(tab, "/console/keys", "Your API keys will appear here.");
    await getSwitch(user).click();
    await expectMode(tab, "/console/test/keys", "Your test keys will appear here.");
    await tab.page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await expectMode(tab, "/console/test/webhooks", "Your test endpoints will appear here.");
    await tab.page.reload();
    await expectMode(tab, "/console/test/webhooks", "Your test endpoints will appear here.");
    const liveTab = await openTab();
    await liveTab.goTo(`${system.origin}/console/webhooks`);
    await expectMode(liveTab, "/console/webhooks", "Your webhook endpoints will appear here.");
    await tab.page.goBack();
    await expectMode(tab, "/console/test/keys", "Your test keys will appear here.");
    await tab.page.goBack();
    await expectMode(tab, "/console/keys", "Your API keys will appear here.");
    await tab.page.goForward();
    await expectMode(tab, "/console/test/keys", "Your test keys will appear here.");
    await tab.page.getByRole("link", { name: "Exit test mode" }).click();
    await expectMode(tab, "/console/keys", "Your API keys will appear here.");
  });

  test("is offered to a new account, and only if the installation has it", async () => {
    const user = await system.signUp("milo");
    await user.goTo("", "Finish setup");
    await user.tab.page.getByRole("link", { name: "Use test mode" }).click();
    await expectMode(user.tab, "/console/test", "Add a test wallet");
    await user.context.route("**/console/api/session", async (route) => {
      const response = await route.fetch();
      const account = (await response.json()) as object;
      return route.fulfill({ response, json: { ...account, testModeAvailable: false } });
    });
    await user.goTo("", "Finish setup");
    expect(await getSwitch(user).count()).toBe(0);
    expect(await user.tab.readText()).not.toContain("test mode");
  });

  test("is kept by a sign-in link that opens it", async () => {
    const { openTab } = await system.createUser();
    const tab = await openTab();
    const url = (await system.createSignInUrl("milla")).replace("/sign-in#", "/test/sign-in#");
    await tab.goTo(url, "This link signs you in as milla");
    await tab.click("Sign in as milla", "Add a passkey");
    await tab.click("Not now", "Add a test wallet");
    await expectMode(tab, "/console/test", "Add a test wallet");
  });

  test("is one tap away from the menu of a phone", async () => {
    const viewport = { width: 390, height: 844 };
    const user = await system.signUp("mae", { viewport, isMobile: true, hasTouch: true });
    await user.goTo("/links/new", "Links need a handle");
    await user.tab.page.getByRole("button", { name: "Menu" }).tap();
    await getSwitch(user).tap();
    await user.tab.page.waitForURL(`${system.origin}/console/test/links/new`);
    await user.tab.waitForText("No real money.");
  });

  test("has its own wallets, links, API keys and webhook endpoints, created in the console (rule MODE-10)", async () => {
    const user = await system.signUp("max");
    const { tab } = user;
    await user.goTo("/test/account/wallets", "Your test wallets will appear here.");
    await tab.click("Add wallet");
    const tokens = (await user.call("get", "tokens")).data as { id: string; mode: string }[];
    await tab.page.getByLabel("Token").waitFor();
    const options = await tab.page.getByLabel("Token").locator("option:not([value=''])").all();
    const offeredIds = await Promise.all(options.map((option) => option.getAttribute("value")));
    const testTokens = tokens.filter(({ mode }) => mode === "test");
    expect(new Set(offeredIds)).toEqual(new Set(testTokens.map(({ id }) => id)));
    expect(offeredIds).toContain(testTokenId);
    await tab.page.getByLabel("Token").selectOption(testTokenId);
    await tab.page.getByLabel("Address", { exact: true }).fill(walletAddress);
    await tab.clickInDialog("Continue", "Check the address");
    await tab.clickInDialog("Add wallet", "Default on Base Sepolia");
    await user.goTo("/test/links/new");
    await tab.page.getByLabel("Amount").fill("5");
    await tab.click("Create link", "Link created.");
    expect(tab.page.url()).toContain(`${system.origin}/console/test/links/plink_`);
    await user.goTo("/test/keys");
    await tab.click("Create API key");
    await tab.type("Create API key", "shop");
    await tab.clickInDialog("Create API key", "Your new API key");
    expect(await tab.page.getByRole("dialog").innerText()).toContain("plk_test_");
    await user.goTo("/test/webhooks");
    await tab.click("Add endpoint");
    await tab.page.getByLabel("Name").fill("shop");
    await tab.page.getByLabel("URL", { exact: true }).fill("https://shop.com/hook");
    await tab.clickInDialog("Add endpoint", "Signing secret");
    await user.goTo("/test");
    await tab.waitForText("No payments yet");
    expect(await tab.readText()).not.toContain("Finish setup");
    for (const path of ["wallets", "payment-links?mode=test", "api-keys", "webhook-endpoints"]) {
      const { data } = await user.call("get", path);
      expect([path, data]).toMatchObject([path, [{ mode: "test" }]]);
    }
    await user.goTo("", "1 of 3 steps done");
    await user.goTo("/keys", "Your API keys will appear here.");
    await user.goTo("/webhooks", "Your webhook endpoints will appear here.");
    await user.goTo("/account/wallets", "Your wallets will appear here.");
  });

  test("never shows what belongs to the other mode (rule MODE-10)", async () => {
    const user = await signUpInBothModes("mika");
    const { tab } = user;
    const views: [path: string, live: string, test: string][] = [
      ["/links", "live order", "test order"],
      ["/keys", "live key", "test key"],
      ["/webhooks", "live endpoint", "test endpoint"],
      ["/account/wallets", "Default on Base", "Default on Base Sepolia"],
    ];
    const countText = (text: string) => tab.page.getByText(text, { exact: true }).count();
    for (const [path, live, test] of views) {
      await user.goTo(path, live);
      expect([path, await countText(live), await countText(test)]).toEqual([path, 1, 0]);
      await user.goTo(`/test${path}`, test);
      expect([path, await countText(live), await countText(test)]).toEqual([path, 0, 1]);
    }
    await user.goTo("/test/links", "test order");
    await tab.page.getByRole("button", { name: "Search…" }).click();
    await tab.page.getByRole("combobox", { name: "Search…" }).fill("e");
    const dialog = tab.page.getByRole("dialog");
    for (const name of ["test order", "test key", "test endpoint"])
      await dialog.getByText(name, { exact: true }).waitFor();
    await dialog.getByText("Searching…").waitFor({ state: "hidden" });
    expect(await dialog.innerText()).not.toContain("live");
  });

  test("follows an item that a URL names, and a switch leads from an item to its list (rule MODE-10)", async () => {
    const user = await signUpInBothModes("miro");
    const { tab } = user;
    await user.goTo(`/links/${user.test.linkId}`);
    await expectMode(tab, `/console/test/links/${user.test.linkId}`, "test order");
    await getSwitch(user).click();
    await expectMode(tab, "/console/links", "live order");
    await user.goTo(`/test/webhooks/${user.live.endpointId}?status=Failed`);
    const livePath = `/console/webhooks/${user.live.endpointId}?status=Failed`;
    await expectMode(tab, livePath, "live endpoint");
    await getSwitch(user).click();
    await expectMode(tab, "/console/test/webhooks", "test endpoint");
  });

  test("marks a simulated payment, which cannot be refunded (rule MODE-10)", async () => {
    const user = await signUpInBothModes("mats");
    const scopes = ["payment_link:create"];
    const newKey = { name: "simulator", scopes, mode: "test" };
    const { key } = await user.call("post", "api-keys", newKey);
    const response = await fetch(`${system.origin}/v1/test/payment-link/${user.test.linkId}/pay`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(200);
    await user.goTo(`/test/links/${user.test.linkId}`, "Payment succeeded");
    // The payment is detected and succeeds.
    expect(await user.tab.page.getByText("Simulated", { exact: true }).count()).toBe(2);
    expect(await user.tab.page.getByRole("button", { name: "Refund…" }).count()).toBe(0);
  });

  test("is accessible in each view on a phone, in light and dark", async () => {
    const viewport = { width: 390, height: 844 };
    const { goTo, tab, test: items } = await signUpInBothModes("may_ah", { viewport });
    const views: [path: string, text: string][] = [
      ["", "No payments yet"],
      ["/links", "test order"],
      ["/links/new", "Preview"],
      [`/links/${items.linkId}`, "Read the testing guide"],
      ["/keys", "test key"],
      ["/webhooks", "test endpoint"],
      [`/webhooks/${items.endpointId}`, "Deliveries will appear here."],
      ["/account/wallets", "Default on Base Sepolia"],
      ["/deposits", "Nothing to review"],
      ["/developers", "Check a signature"],
    ];
    for (const [path, text] of views) {
      await goTo(`/test${path}`, text);
      await expectNoFaults(tab, path);
    }
  });

  test("is accessible in German, and fits into 320 px", async () => {
    const viewport = { width: 320, height: 640 };
    const { goTo, tab } = await system.signUp("mira", { viewport, locale: "de-DE" });
    const views: [path: string, text: string][] = [
      ["", "Test-Wallet hinzufügen"],
      ["/links", "Testlinks brauchen einen Handle"],
      ["/keys", "Hier erscheinen Ihre Testschlüssel."],
      ["/webhooks", "Hier erscheinen Ihre Test-Endpunkte."],
      ["/account/wallets", "Hier erscheinen Ihre Test-Wallets."],
    ];
    for (const [path, text] of views) {
      await goTo(`/test${path}`, text);
      expect(await tab.readText()).toContain("Kein echtes Geld.");
      await expectNoFaults(tab, path);
    }
    await tab.page.getByRole("button", { name: "Menü" }).click();
    await expectNoFaults(tab, "menu");
  });
});
