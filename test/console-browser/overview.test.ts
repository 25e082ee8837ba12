import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Overview } from "../../packages/console/app/api/operations.ts";
import { walletAddress } from "../rig/create-console.ts";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const token = {
  address: walletAddress,
  decimals: 6,
  symbol: "USDC",
  name: "USD Coin",
  logo: null,
  isNative: false,
  isStablecoin: true,
  currencyCode: null,
  commodityCode: null,
  chain: { id: "8453", name: "Base", symbol: "ETH", chainType: "EVM", logo: "" },
  priceUsd: null,
  isVerified: null,
} as const;

const dayMs = 86_400_000;
const getDay = (daysAgo: number) =>
  new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10);
const createRow = (daysAgo: number, amount: string, tokenId = "usdc") => ({
  day: getDay(daysAgo),
  tokenId,
  amount,
  paymentCount: 2,
});

const payment = {
  id: "tx_1",
  status: "settled",
  applied: true,
  reason: null,
  amount: "12.5",
  tokenAddress: walletAddress,
  sender: null,
  chainId: "8453",
  sourceTransaction: null,
  transactionUrl: null,
  dateCreated: new Date().toISOString(),
} as const;

/** Three ranges have different totals: 7 days 112, 30 days 213, 90 days 217. */
const createOverview = (): Overview => ({
  received: [
    createRow(100, "4"),
    createRow(50, "4"),
    createRow(20, "1"),
    createRow(8, "100"),
    createRow(1, "12"),
    createRow(0, "100"),
    createRow(0, "0.25", "eth"),
  ],
  tokens: [
    { id: "usdc", token },
    { id: "eth", token: { ...token, symbol: "ETH", isStablecoin: false } },
  ],
  links: {
    active: { count: 3, hasMore: false },
    completed: { count: 4, hasMore: false },
    inactive: { count: 10_000, hasMore: true },
  },
  unapplied: {
    count: 1,
    hasMore: false,
    payments: [{ ...payment, applied: false, reason: "expired", paymentLinkId: "plink_1" }],
  },
  recentPayments: [
    { ...payment, paymentLinkId: "plink_2", description: "Order 7", token },
    { ...payment, id: "tx_2", paymentLinkId: "plink_3", description: null, token: null },
  ],
});

/** These tests do not process events, so they mock the services' responses about payments. */
const openOverview = async (user: ConsoleUser, overview = createOverview()): Promise<void> => {
  await user.addDefaultWallet();
  await user.context.route("**/console/api/overview?days=180&mode=live", (route) =>
    route.fulfill({ json: overview }),
  );
  await user.goTo("", "Received in the last 30 days");
};

describe("the overview", () => {
  test("shows the total of each range with its change, and each token by itself", async () => {
    const user = await system.signUp("ov_yara", { viewport: { width: 320, height: 640 } });
    const { tab } = user;
    await openOverview(user);
    await tab.waitForText("213.00 USDC");
    expect(await tab.readText()).toContain("+5,225%");
    await tab.page.getByLabel("7 days").check();
    await tab.waitForText("112.00 USDC");
    expect(await tab.readText()).toContain("+12%");
    await tab.page.getByLabel("90 days").check();
    await tab.waitForText("217.00 USDC");
    await tab.page.reload();
    await tab.waitForText("Received in the last 90 days");
    await tab.page.getByLabel("ETH · Base").check();
    await tab.waitForText("0.25 ETH");
    await tab.page.getByText("View data").click();
    expect(await findLayoutFaults(tab.page)).toEqual([]);
  });

  test("shows the numbers of each day to a user of the keyboard", async () => {
    const user = await system.signUp("ov_kira", { timezoneId: "UTC" });
    const { tab } = user;
    await openOverview(user);
    const chart = tab.page.getByRole("slider", { name: "213.00 USDC in the last 30 days, by day" });
    await chart.focus();
    await tab.waitForText("100.00 USDC");
    expect(await chart.getAttribute("aria-valuetext")).toMatch(/: 100\.00 USDC, 2 payments$/);
    await tab.page.keyboard.press("ArrowLeft");
    await tab.waitForText("12.00 USDC");
    await tab.page.keyboard.press("Home");
    await tab.waitForText("0 payments");
    await tab.page.keyboard.press("Tab");
    await waitUntil(
      "the tooltip is gone",
      async () => !(await tab.readText()).includes("0 payments"),
    );
  });

  test("lists what needs attention in one strip, which is absent while nothing does", async () => {
    const user = await system.signUp("ov_mara", { viewport: { width: 320, height: 640 } });
    const { tab } = user;
    await openOverview(user);
    const strip = tab.page.getByRole("region", { name: "Needs attention" });
    await strip.getByText("Payments not applied to their link: 1").click();
    await tab.waitForText("after expiry");
    expect(await strip.getByRole("link", { name: "View link" }).getAttribute("href")).toBe(
      "/console/links/plink_1",
    );
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    const { unapplied, ...overview } = createOverview();
    const quietOverview = { ...overview, unapplied: { ...unapplied, count: 0, payments: [] } };
    await user.context.route("**/console/api/overview?days=180&mode=live", (route) =>
      route.fulfill({ json: quietOverview }),
    );
    // Otherwise, the account could have a passkey, which it lacks.
    await user.context.route("**/console/api/session/methods", (route) =>
      route.fulfill({ json: { methods: ["link"] } }),
    );
    await tab.page.reload();
    await tab.waitForText("Recent payments");
    expect(await strip.count()).toBe(0);
  });

  test("lists recent payments, each with its link, and how many links have each state", async () => {
    const user = await system.signUp("ov_nele");
    const { tab } = user;
    await openOverview(user);
    const paymentLink = tab.page.getByRole("link", { name: "Order 7" });
    expect(await paymentLink.getAttribute("href")).toBe("/console/links/plink_2");
    await tab.waitForText("No description");
    await tab.waitForText("12.50 USDC");
    await tab.waitForText("more than 10000");
    await tab.page.getByRole("link", { name: "Paid", exact: true }).click();
    await tab.page.waitForURL("**/console/links?status=paid");
  });
});
