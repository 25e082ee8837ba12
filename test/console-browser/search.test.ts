import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

/** Signs up a shop with two links, an API key and a webhook endpoint, on its list of keys. */
const signUpShop = async (...options: Parameters<typeof system.signUp>) => {
  const user = await system.signUp(...options);
  await user.addDefaultWallet();
  // Services can use cached account data for this long.
  system.clock.advance(60_000);
  await user.call("post", "payment-links", { toAmount: "5", description: "Green tea" });
  const link = await user.call("post", "payment-links", { toAmount: "7", description: "Teapot" });
  await user.call("post", "api-keys", { name: "tea shop", scopes: ["payment_link:read"] });
  await user.call("post", "webhook-endpoints", { name: "till", url: "https://tea.com/hook" });
  await user.goTo("/keys", "tea shop");
  const { page } = user.tab;
  const results = page.getByRole("listbox", { name: "Results" }).getByRole("option");
  return {
    ...user,
    linkId: link.id,
    field: page.getByRole("combobox", { name: "Search…" }),
    results,
    // Links, keys and endpoints arrive one after the other.
    waitForResults: (count: number) =>
      waitUntil("all results are shown", async () => (await results.count()) === count),
    waitForPath: (path: string) => page.waitForURL(`${system.origin}/console${path}`),
  };
};

describe("the search", () => {
  test("finds links, API keys, webhook endpoints and views while the user types", async () => {
    const { field, results, tab, waitForResults } = await signUpShop("tessa");
    await tab.click("Search…");
    await field.fill("TEA");
    await waitForResults(4);
    const texts = await results.allInnerTexts();
    expect(texts.map((text) => text.split("\n")[0])).toEqual([
      "Teapot",
      "Green tea",
      "tea shop",
      "till",
    ]);
    await field.fill("webh");
    await waitUntil("the view is found", async () =>
      (await results.allInnerTexts()).join().startsWith("Webhooks"),
    );
    await field.fill("no such thing");
    await tab.waitForText("No results.");
  });

  test("opens with a keyboard shortcut, and opens the result that the arrow keys chose", async () => {
    const { field, results, tab, waitForPath, waitForResults } = await signUpShop("theo");
    await tab.page.keyboard.press("Control+k");
    await field.fill("tea");
    await waitForResults(4);
    expect(await results.first().getAttribute("aria-selected")).toBe("true");
    await tab.page.keyboard.press("ArrowUp");
    expect(await results.last().getAttribute("aria-selected")).toBe("true");
    await tab.page.keyboard.press("Enter");
    await waitForPath("/webhooks/*");
    await tab.page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("opens the right result if Enter is pressed before it has arrived", async () => {
    const { field, linkId, tab, waitForPath } = await signUpShop("tilo");
    await tab.page.keyboard.press("Control+k");
    await field.fill(linkId);
    await tab.page.keyboard.press("Enter");
    await waitForPath(`/links/${linkId}`);
  });

  test("closes with Escape and returns to the previous element", async () => {
    const { field, tab } = await signUpShop("tom");
    const button = tab.page.getByRole("button", { name: "Search…" });
    await button.focus();
    await tab.page.keyboard.press("Enter");
    await field.waitFor();
    await tab.page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    const isFocusRestored = () => button.evaluate((element) => element.matches(":focus"));
    await waitUntil("the focus is restored", isFocusRestored);
  });

  test("is accessible and fits into 320 px", async () => {
    const { field, results, tab } = await signUpShop("tine", {
      viewport: { width: 320, height: 640 },
    });
    await tab.click("Search…");
    await field.fill("tea");
    await results.filter({ hasText: "till" }).waitFor();
    expect(await findLayoutFaults(tab.page)).toEqual([]);
  });
});

describe("the frame on a phone", () => {
  test("has a menu button that opens the navigation, which closes after a choice", async () => {
    const { tab } = await signUpShop("tara", { viewport: { width: 390, height: 844 } });
    const webhooksLink = tab.page.getByRole("link", { name: "Webhooks", exact: true });
    expect(await webhooksLink.count()).toBe(0);
    await tab.click("Menu");
    await webhooksLink.waitFor();
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await webhooksLink.click();
    await tab.waitForText("tea.com");
    await webhooksLink.waitFor({ state: "hidden" });
  });
});

describe("the account menu", () => {
  test("is operated with the keyboard, is accessible, and returns the focus", async () => {
    const { tab } = await signUpShop("timo");
    const { page } = tab;
    const button = page.getByRole("button", { name: "Signed in as timo" });
    await button.focus();
    await page.keyboard.press("Enter");
    const focusedText = () => page.evaluate<string>("document.activeElement.innerText.trim()");
    await waitUntil(
      "the first entry has the focus",
      async () => (await focusedText()) === "Account",
    );
    expect(await findLayoutFaults(page)).toEqual([]);
    await page.keyboard.press("ArrowUp");
    expect(await focusedText()).toBe("Sign out");
    await page.keyboard.press("ArrowDown");
    expect(await focusedText()).toBe("Account");
    await page.keyboard.press("Escape");
    await page.getByRole("menuitem").first().waitFor({ state: "hidden" });
    expect(await button.evaluate((element) => element.matches(":focus"))).toBe(true);
  });
});
