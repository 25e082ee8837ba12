import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import type { Payer } from "../rig/create-checkout.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

// The page shows local times, which differ from UTC here.
const timezoneId = "Europe/Berlin";
const phone = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  timezoneId,
};
const computer = { viewport: { width: 1280, height: 800 }, timezoneId };

/** Opens a link's page in a browser with or without a wallet. */
const openLink = async (options: BrowserContextOptions, hasWallet: boolean): Promise<Page> => {
  const payer = await rig.createPayer({ toAmount: "25", description: "Order 7" }, options);
  const tab = hasWallet ? payer : await (await rig.createUser(options)).openTab();
  await tab.goTo(payer.link.pageUrl, "25 USDC");
  return tab.page;
};

/** Returns the names of the options whose content is visible. */
const listVisibleOptions = async (page: Page): Promise<string[]> => {
  const visibilities = await Promise.all(
    ["wallet", "qr", "exchange"].map(async (name) =>
      (await page.locator(`#${name}-option`).isVisible()) ? [name] : [],
    ),
  );
  return visibilities.flat();
};

const getBottom = async (page: Page, role: "button" | "link", name: string): Promise<number> => {
  const box = await page.getByRole(role, { name }).boundingBox();
  return box === null ? Infinity : box.y + box.height;
};

describe("the ways to pay", () => {
  test.each<[string, BrowserContextOptions, boolean, string]>([
    ["a phone, whose apps can open the page", phone, false, "wallet"],
    ["the browser of a wallet app", phone, true, "wallet"],
    ["a computer with a browser wallet", computer, true, "wallet"],
    ["a computer without a wallet", computer, false, "qr"],
  ])("on %s begin with the one that fits", async (_device, options, hasWallet, expectedOption) => {
    const page = await openLink(options, hasWallet);
    expect(await listVisibleOptions(page)).toEqual([expectedOption]);
    expect(await page.locator(`#option-${expectedOption}`).isChecked()).toBe(true);
  });

  test("can be selected with the arrow keys, and each has values to copy", async () => {
    const page = await openLink(computer, true);
    await page.getByRole("radio", { name: "Wallet" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await listVisibleOptions(page)).toEqual(["qr"]);
    const listCopyButtons = () =>
      page.locator(".option").getByRole("button", { name: /^Copy/ }).allInnerTexts();
    expect(await listCopyButtons()).toHaveLength(3);
    expect(await findAxeViolations(page)).toEqual([]);
    await page.keyboard.press("ArrowRight");
    expect(await listVisibleOptions(page)).toEqual(["exchange"]);
    await page.keyboard.press("ArrowRight");
    expect(await listVisibleOptions(page)).toEqual(["wallet"]);
  });

  test("keep the payer's choice when the page changes", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.open("Pay 25 USDC");
    await payer.page.getByRole("radio", { name: "Exchange" }).check();
    await rig.chain.pay({ ...payer.link, amount: 10_000_000n });
    await rig.chain.mine(3);
    await payer.waitForText("10 of 25 USDC received, 15 left.");
    expect(await listVisibleOptions(payer.page)).toEqual(["exchange"]);
  });

  test("are all visible without JavaScript, one below the other", async () => {
    const page = await openLink({ ...phone, javaScriptEnabled: false }, false);
    expect(await listVisibleOptions(page)).toEqual(["wallet", "qr", "exchange"]);
    const tops = await Promise.all(
      ["wallet", "qr", "exchange"].map(async (name) => {
        const box = await page.locator(`#${name}-option`).boundingBox();
        return box?.y ?? NaN;
      }),
    );
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
  });
});

describe("a phone of 390 by 844 pixels", () => {
  test.each<[string, boolean, "button" | "link", string]>([
    ["with a wallet", true, "button", "Pay 25 USDC"],
    ["without a wallet", false, "link", "Open in MetaMask"],
  ])(
    "%s shows the order, one filled action of 48 pixels and the network without scrolling, below the test network's banner",
    async (_case, hasWallet, role, name) => {
      const page = await openLink(phone, hasWallet);
      expect(await getBottom(page, role, name)).toBeLessThan(844);
      const box = await page.getByRole(role, { name }).boundingBox();
      expect(box?.height).toBe(48);
      const network = page.getByText("Sent directly to the seller's wallet");
      const networkBox = await network.boundingBox();
      expect((networkBox?.y ?? Infinity) + (networkBox?.height ?? 0)).toBeLessThan(844);
      const visibleActions = await page.locator(".primary").filter({ visible: true }).count();
      expect(visibleActions).toBe(1);
      const bannerBox = await page.getByText("Local devnet is a test network").boundingBox();
      expect(bannerBox?.height).toBeLessThanOrEqual(32);
    },
  );
});

/** A slow phone: "Fast 3G", and a quarter of the processor's speed. */
const slowDown = async ({ page }: Pick<Payer, "page">): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  const bytesPerSecond = (1.6 * 1024 * 1024) / 8;
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 150,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
};

const observeShiftsScript = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries())
      if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: "layout-shift", buffered: true });`;

/** Opens a page on a slow phone. Expects that nothing moves until its last change, the local times. */
const expectNoShift = async (
  tab: Pick<Payer, "goTo" | "page" | "waitForText">,
  { url, expectedText }: { url: string; expectedText: string },
): Promise<void> => {
  await tab.page.addInitScript(observeShiftsScript);
  await slowDown(tab);
  await tab.goTo(url);
  await tab.waitForText(expectedText);
  const hasLocalTimes =
    '[...document.querySelectorAll("time")].every(({ textContent }) => !textContent.includes("UTC"))';
  await waitUntil("the times are local", () => tab.page.evaluate<boolean>(hasLocalTimes));
  await tab.page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
  );
  expect(await tab.page.evaluate<number>("window.layoutShift")).toBeLessThanOrEqual(0.02);
};

describe("a page that loads on a slow phone", () => {
  test.each(
    sampleCases(
      [phone, computer].flatMap((options) =>
        [true, false].map((hasWallet) => ({ ...options, hasWallet })),
      ),
      ({ viewport }) => viewport === phone.viewport,
    ),
  )("does not move what is visible (wallet: $hasWallet)", async ({ hasWallet, ...options }) => {
    const expirationDate = new Date(Date.now() + 60 * 60_000).toISOString();
    const payer = await rig.createPayer(
      { toAmount: "25", description: "Order 7", expirationDate },
      options,
    );
    const tab = hasWallet ? payer : await (await rig.createUser(options)).openTab();
    await expectNoShift(tab, { url: payer.link.pageUrl, expectedText: "Expires in 00:5" });
  });

  test("does not move what is visible on a paid link and its receipt", async () => {
    const payer = await rig.createPayer({ toAmount: "25", description: "Order 7" }, phone);
    await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.open();
    const href = await payer.page.getByRole("link", { name: "View receipt" }).getAttribute("href");
    const receiptUrl = `${rig.system.publicUrl}${new URL(href ?? "").pathname}`;
    const newTab = async () => (await rig.createUser(phone)).openTab();
    await expectNoShift(await newTab(), {
      url: payer.link.pageUrl,
      expectedText: "Payment complete",
    });
    await expectNoShift(await newTab(), { url: receiptUrl, expectedText: "Payment settled" });
  });
});
