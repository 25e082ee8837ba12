import { apiErrorCodes, validationMessages, webhookTypes } from "@payment-links/contracts";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Page } from "playwright-core";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

// After each test, it expects no violations of the content security policy, and no requests to
// another host.
const system = useConsole();

const phone = { width: 390, height: 844 };
const computer = { width: 1280, height: 800 };

/** Windows and themes. `npm test` checks each window and each theme once. */
const windows = sampleCases(
  [
    { viewport: phone, colorScheme: "light" },
    { viewport: phone, colorScheme: "dark" },
    { viewport: computer, colorScheme: "light" },
    { viewport: computer, colorScheme: "dark" },
  ] as const,
  ({ viewport, colorScheme }) => (viewport === phone) === (colorScheme === "dark"),
);

const openDocs = async (path = "", options: Parameters<typeof system.createUser>[0] = {}) => {
  const user = await system.createUser({ viewport: computer, ...options });
  const tab = await user.openTab();
  await tab.goTo(`${system.origin}/docs${path}`);
  return { ...user, tab };
};

const listPagePaths = (page: Page): Promise<string[]> =>
  page.evaluate("[...document.querySelectorAll('#navigation a')].map(({ href }) => href)");

const openSearch = async (page: Page): Promise<void> => {
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search" }).waitFor();
};

describe("the docs", () => {
  test("are accessible and fit each window, in both themes (rule DOCS-1)", async () => {
    for (const { viewport, colorScheme } of windows) {
      const { tab } = await openDocs("", { viewport, colorScheme });
      const urls = await listPagePaths(tab.page);
      expect(urls.length).toBeGreaterThan(12);
      for (const url of urls) {
        await tab.goTo(url);
        const faults = await findLayoutFaults(tab.page);
        expect({ url, colorScheme, faults }).toEqual({ url, colorScheme, faults: [] });
      }
    }
  });

  test("find each error code and each webhook type first, in an accessible search", async () => {
    const { tab } = await openDocs();
    await openSearch(tab.page);
    const codes = [...apiErrorCodes, ...Object.keys(validationMessages)];
    const findFirst = async (query: string): Promise<string> => {
      await tab.page.getByRole("combobox", { name: "Search" }).fill(query);
      const first = tab.page.locator('#search-results [aria-selected="true"]');
      await first.filter({ hasText: query }).first().waitFor();
      return String(await first.getAttribute("data-href"));
    };
    for (const code of codes) expect(await findFirst(code)).toBe(`/docs/errors#${code}`);
    for (const type of webhookTypes) expect(await findFirst(type)).toBe(`/docs/events#${type}`);
    expect(await findLayoutFaults(tab.page)).toEqual([]);
  });

  test("can be searched by keyboard", async () => {
    const { tab } = await openDocs("/webhooks");
    await tab.page.keyboard.press("Control+k");
    const field = tab.page.getByRole("combobox", { name: "Search" });
    await field.fill("IDEMPOTENCY_KEY_REUSED");
    await tab.page
      .getByRole("option", { name: /IDEMPOTENCY_KEY_REUSED/ })
      .first()
      .waitFor();
    await field.press("Enter");
    await tab.page.waitForURL(/\/docs\/errors#IDEMPOTENCY_KEY_REUSED$/);
    const entry = 'document.getElementById("IDEMPOTENCY_KEY_REUSED")';
    await waitUntil("the entry is in sight", async () => {
      const top = await tab.page.evaluate<number>(`${entry}.getBoundingClientRect().top`);
      return top < computer.height;
    });
  });

  test("say that nothing was found", async () => {
    const { tab } = await openDocs();
    await openSearch(tab.page);
    await tab.page.getByRole("combobox", { name: "Search" }).fill("xyzzy");
    await tab.waitForText("No results for “xyzzy”.");
  });

  test("copy the code of a block", async () => {
    const { context, tab } = await openDocs("/quickstart");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await tab.stopClock();
    await tab.page.getByRole("button", { name: "Copy code" }).first().click();
    await tab.page.getByRole("button", { name: "Copied" }).waitFor();
    await tab.waitForCopiedText(
      "WEBHOOK_HOST_OVERRIDES=receiver.test=http://127.0.0.1:9000 npm start\n",
    );
  });

  test("work without JavaScript: navigation, alternatives and anchors (rule DOCS-1)", async () => {
    const { tab } = await openDocs("", { viewport: phone, javaScriptEnabled: false });
    const { page } = tab;
    expect(await page.getByRole("button", { name: "Search" }).count()).toBe(0);
    await page.getByRole("button", { name: "Menu" }).click();
    await page
      .getByRole("navigation", { name: "Docs" })
      .getByRole("link", { name: "Webhooks" })
      .click();
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
    await page.getByText("Python", { exact: true }).first().click();
    await page.getByText("class Receiver(BaseHTTPRequestHandler)").waitFor();
    expect(await page.getByText("IncomingHttpHeaders").first().isVisible()).toBe(false);
    await page.getByRole("link", { name: /Next/ }).click();
    await page.getByRole("heading", { level: 1, name: "Events" }).waitFor();
  });

  test("can be printed without navigation, with all alternatives", async () => {
    const { tab } = await openDocs("/webhooks");
    await tab.page.emulateMedia({ media: "print" });
    expect(await tab.page.locator("#navigation").isVisible()).toBe(false);
    expect(await tab.page.getByText("class Receiver(BaseHTTPRequestHandler)").isVisible()).toBe(
      true,
    );
  });
});

describe("the developers view", () => {
  test("leads to the docs", async () => {
    const { goTo, tab } = await system.signUp("docs_reader");
    await goTo("/developers", "Documentation");
    await tab.page
      .getByRole("link", { name: /Documentation/ })
      .first()
      .click();
    await tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });
});
