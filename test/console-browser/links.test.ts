import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import type {
  LinkDeliveryPage,
  LinkStory,
  OwnPaymentLink,
} from "../../packages/console/app/api/operations.ts";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

/** Creates links with these descriptions, newest last. Returns their ids. */
const createLinks = async (
  user: ConsoleUser,
  descriptions: readonly (string | null)[],
): Promise<string[]> => {
  await user.addDefaultWallet();
  const ids: string[] = [];
  for (const description of descriptions) {
    const link = { toAmount: "18.5", ...(description === null ? {} : { description }) };
    ids.push((await user.call("post", "payment-links", link)).id);
  }
  return ids;
};

/** Waits until the list has exactly the links with these descriptions. */
const waitForRows = async ({ tab }: ConsoleUser, descriptions: readonly string[]) => {
  const links = tab.page.locator("tbody tr td:first-child");
  let shown: string[] = [];
  await waitUntil(
    () => `the list shows ${descriptions.join(", ")}; it shows ${shown.join(", ")}`,
    async () => {
      shown = await links.allInnerTexts();
      return shown.join() === descriptions.join();
    },
  );
};

describe("the list of links", () => {
  test("has a tab for each state, and combines it with a search that applies while typing", async () => {
    const user = await system.signUp("li_anna");
    const { goTo, tab } = user;
    const [deactivatedId = "", expiredId = ""] = await createLinks(user, [
      "Black tea",
      "Green tea",
      "White tea",
      "Coffee",
    ]);
    await user.call("post", `payment-links/${deactivatedId}/deactivate`);
    await system.queryLinksDatabase(
      "UPDATE links_api.links SET expires_at = created_at WHERE id = $1",
      [expiredId],
    );
    await goTo("/links");
    await waitForRows(user, ["Coffee", "White tea", "Green tea", "Black tea"]);
    expect(await tab.page.locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringContaining("Open"),
      expect.stringContaining("Open"),
      expect.stringContaining("Expired"),
      expect.stringContaining("Deactivated"),
    ]);
    const openTab = (name: string) =>
      tab.page.getByRole("navigation", { name: "Status" }).getByRole("link", { name }).click();
    await openTab("Expired");
    await waitForRows(user, ["Green tea"]);
    await openTab("Deactivated");
    await waitForRows(user, ["Black tea"]);
    await openTab("Paid");
    await tab.waitForText("No matching links");
    await openTab("Open");
    await waitForRows(user, ["Coffee", "White tea"]);
    const searchField = tab.page.getByRole("main").getByRole("searchbox");
    await searchField.pressSequentially("tea");
    await tab.page.waitForURL(({ search }) => search === "?status=open&q=tea");
    await waitForRows(user, ["White tea"]);
    await openTab("All");
    await waitForRows(user, ["White tea", "Green tea", "Black tea"]);
    await tab.page.getByLabel("Created after").fill("2100-01-01");
    await tab.waitForText("No matching links");
    await tab.page.getByRole("link", { name: "Clear filters" }).click();
    await waitForRows(user, ["Coffee", "White tea", "Green tea", "Black tea"]);
    await waitUntil(
      "the search field is empty",
      async () => (await searchField.inputValue()) === "",
    );
  });

  test("opens a link by a click anywhere in its row, or by the keyboard", async () => {
    const user = await system.signUp("li_bert");
    const { goTo, tab } = user;
    const [, id = ""] = await createLinks(user, ["Tea", null]);
    await goTo("/links", "No description");
    const row = tab.page.locator("tbody tr").first();
    expect(await row.innerText()).toContain("18.50 USDC");
    const { x = 0, y = 0, width = 0, height = 0 } = (await row.boundingBox()) ?? {};
    await tab.page.mouse.click(x + width - 10, y + height - 5);
    await tab.page.waitForURL(`**/console/links/${id}`);
    await tab.page.goBack();
    await row.getByRole("link").focus();
    await tab.page.keyboard.press("Enter");
    await tab.page.waitForURL(`**/console/links/${id}`);
  });

  test("offers to create the first link while there is none", async () => {
    const user = await system.signUp("li_cleo");
    await user.addDefaultWallet();
    await user.goTo("/links", "No payment links yet");
    await user.tab.page.getByRole("main").getByRole("link", { name: "New link" }).last().click();
    await user.tab.waitForText("Create payment link");
  });

  test("shows a long description in one line and each row in two lines on a phone", async () => {
    const user = await system.signUp("li_dora", { viewport: { width: 390, height: 844 } });
    await createLinks(user, ["A long description ".repeat(20)]);
    await user.goTo("/links", "18.50 USDC");
    const row = user.tab.page.locator("tbody tr").first();
    const { height = 0 } = (await row.boundingBox()) ?? {};
    expect(height).toBeLessThan(80);
    expect(await findLayoutFaults(user.tab.page)).toEqual([]);
  });
});

describe("the form for a new link", () => {
  test("previews the checkout while the user types", async () => {
    const user = await system.signUp("li_emil");
    const { goTo, tab } = user;
    await user.addDefaultWallet();
    await goTo("/links/new", "Preview");
    const preview = tab.page.getByRole("region", { name: "Preview" });
    expect(await preview.innerText()).toContain("li_emil");
    await tab.page.getByLabel("Amount").fill("$1,250.5");
    await preview.getByText("Pay 1,250.50 USDC").waitFor();
    await preview.getByText("on Base").waitFor();
    await tab.page.getByLabel("Description").fill("Two tins <b>");
    await preview.getByText("Two tins <b>").waitFor();
    await tab.page.getByLabel("Amount").fill("many");
    await preview.getByText("Pay 0.00 USDC").waitFor();
    expect(await findAxeViolations(tab.page)).toEqual([]);
  });

  test("changes the default wallet only after a confirmation", async () => {
    const user = await system.signUp("li_finn");
    const { call, goTo, tab } = user;
    await user.addDefaultWallet();
    const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
    await call("post", "wallets", { walletAddress, tokenId: "usdc-ethereum" });
    await goTo("/links/new", "Preview");
    const picker = tab.page.getByLabel("Wallet");
    const choose = () => picker.selectOption({ label: "USDC · Ethereum · 0x529084…169EE7" });
    await choose();
    await tab.click("Cancel");
    expect(await picker.locator("option:checked").innerText()).toContain("Base");
    await choose();
    await tab.click("Use wallet", "on Ethereum");
    const { data } = await call("get", "wallets");
    expect(data).toMatchObject([{ isDefault: false }, { isDefault: true, walletAddress }]);
  });

  test("leads to the link with its address and its QR code as a file", async () => {
    const user = await system.signUp("li_gina");
    const { goTo, tab } = user;
    await user.addDefaultWallet();
    await goTo("/links/new");
    await tab.page.getByLabel("Amount").fill("25");
    await tab.click("Create link", "Link created.");
    await tab.page.getByRole("button", { name: "Copy link" }).waitFor();
    for (const [format, start] of [
      ["PNG", "\u{89}PNG"],
      ["SVG", "<svg"],
    ] as const) {
      const [download] = await Promise.all([
        tab.page.waitForEvent("download"),
        tab.page.getByRole("button", { name: format }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`payment-link.${format.toLowerCase()}`);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString("latin1").slice(0, start.length)).toBe(start);
    }
  });
});

describe("a link", () => {
  test("shows its progress, and one list of its payments and webhook deliveries", async () => {
    const user = await system.signUp("li_hans", { viewport: { width: 320, height: 640 } });
    const { context, goTo, tab } = user;
    const [id = ""] = await createLinks(user, ["Order 7"]);
    const hash = `0x${"ab".repeat(32)}`;
    const payment = {
      id: "tx_1",
      status: "settled",
      applied: true,
      reason: null,
      amount: "24",
      tokenAddress: "0x1",
      chainId: "8453",
      sender: null,
      sourceTransaction: hash,
      transactionUrl: `https://basescan.org/tx/${hash}`,
      dateCreated: "2026-11-21T10:00:01.000Z",
    } as const;
    const timeline: LinkStory = {
      data: [
        { kind: "completed", at: "2026-11-21T10:00:05.000Z", by: null, payment, refund: null },
        { kind: "payment_seen", at: "2026-11-21T10:00:01.000Z", by: null, payment, refund: null },
        { kind: "created", at: "2026-11-21T10:00:00.000Z", by: null, payment: null, refund: null },
      ],
      nextAfter: null,
    };
    const deliveries: LinkDeliveryPage = {
      data: [
        {
          id: "evt_1",
          eventType: "payment_link.completed",
          linkId: id,
          paymentId: "tx_1",
          status: "Delivered",
          attempts: 1,
          httpStatus: 200,
          error: null,
          dateCreated: "2026-11-21T10:00:05.000Z",
          lastAttemptAt: null,
          nextAttemptAt: null,
          endpointId: "whe_1",
          endpointName: "till",
        },
      ],
      limit: 10,
      offset: 0,
      nextOffset: null,
    };
    await context.route("**/console/api/payment-links/*/story?order=desc", (route) =>
      route.fulfill({ json: timeline }),
    );
    await context.route("**/console/api/webhook-deliveries?*", (route) =>
      route.fulfill({ json: deliveries }),
    );
    await context.route(`**/console/api/payment-links/${id}`, async (route) => {
      const response = await route.fetch();
      const link = (await response.json()) as OwnPaymentLink;
      const paidLink = { ...link, status: "completed", receivedAmount: "24" };
      await route.fulfill({ response, json: paidLink });
    });
    await goTo(`/links/${id}`, "24.00 of 18.50 USDC, 5.50 over");
    const entries = tab.page.getByRole("main").locator("ol > li strong");
    await waitUntil("the activity is shown", async () => (await entries.count()) === 4);
    expect(await entries.allInnerTexts()).toEqual([
      "Webhook",
      "Link paid",
      "Payment detected",
      "Link created",
    ]);
    const explorerLink = tab.page
      .getByRole("link", { name: "0xababab…ababab in the block explorer" })
      .first();
    expect(await explorerLink.getAttribute("href")).toBe(payment.transactionUrl);
    expect(await findLayoutFaults(tab.page)).toEqual([]);
  });
});
