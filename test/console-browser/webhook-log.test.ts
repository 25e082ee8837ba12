import { expect } from "@jest/globals";
import type { BrowserContextOptions, Locator } from "playwright-core";
import { waitUntil } from "@payment-links/runtime/testing";
import type { DeliveryDetail } from "../../packages/console/app/api/operations.ts";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const body = '{"createdAt":"2026-11-21T10:00:00.000Z","data":{"amount":"25"},"id":"evt_2"}';

const createDelivery = (overrides: Partial<DeliveryDetail>): DeliveryDetail => ({
  id: "evt_1",
  eventType: "payment_link.completed",
  linkId: "plink_1",
  paymentId: null,
  status: "Delivered",
  attempts: 1,
  httpStatus: 204,
  error: null,
  dateCreated: "2026-11-21T10:00:01.000Z",
  lastAttemptAt: "2026-11-21T10:00:02.000Z",
  nextAttemptAt: null,
  attemptLog: [],
  request: null,
  ...overrides,
});

const startedAt = "2026-11-21T10:00:02.000Z";
const deliveries = [
  createDelivery({
    id: "evt_2",
    eventType: "payment_link.transaction.succeeded",
    status: "Failed",
    attempts: 2,
    httpStatus: 500,
    error: "status 500",
    attemptLog: [
      { number: 1, startedAt, durationMs: null, httpStatus: null, error: "time-out" },
      {
        number: 2,
        startedAt: "2026-11-21T10:00:37.000Z",
        durationMs: 12,
        httpStatus: 500,
        error: "status 500",
      },
    ],
    request: {
      url: "https://shop.com/hook",
      headers: [
        { name: "Content-Type", value: "application/json" },
        { name: "Service-Signature", value: `v1=${"ab".repeat(32)}` },
      ],
      body,
    },
  }),
  createDelivery({
    attemptLog: [{ number: 1, startedAt, durationMs: 7, httpStatus: 204, error: null }],
  }),
];

/**
 * Signs up a user with an endpoint whose log has two deliveries. These tests do not process events,
 * so they mock the service's responses about deliveries.
 */
const signUpWithLog = async (handle: string, options: BrowserContextOptions) => {
  const user = await system.signUp(handle, { timezoneId: "UTC", locale: "en-US", ...options });
  const { id } = await user.call("post", "webhook-endpoints", {
    name: "till",
    url: "https://shop.com/hook",
  });
  const requestedSearches: string[] = [];
  await user.context.route(`**/console/api/webhook-endpoints/${id}/deliveries?*`, (route) => {
    const { search, searchParams } = new URL(route.request().url());
    requestedSearches.push(search);
    const status = searchParams.get("status");
    const data = deliveries.filter((delivery) => status === null || delivery.status === status);
    return route.fulfill({ json: { data, limit: 10, offset: 0, nextOffset: null } });
  });
  for (const delivery of deliveries) {
    const path = `**/console/api/webhook-endpoints/${id}/deliveries/${delivery.id}`;
    await user.context.route(path, (route) => route.fulfill({ json: delivery }));
  }
  const { page } = user.tab;
  const list = page.getByRole("list", { name: "Delivery log" });
  return {
    ...user,
    path: `/webhooks/${id}`,
    requestedSearches,
    list,
    failedEntry: list.getByRole("link", { name: /transaction\.succeeded/ }),
    detailHeading: page.getByRole("heading", { level: 2, name: /transaction\.succeeded/ }),
  };
};

const isFocused = (locator: Locator) => () =>
  locator.evaluate((element) => element.matches(":focus"));

describe("the webhook log on a wide screen", () => {
  const viewport = { width: 1280, height: 800 };

  test("shows the selected delivery next to the list, with its request, response and attempts", async () => {
    const { detailHeading, failedEntry, goTo, list, path, tab } = await signUpWithLog("wlog_wide", {
      viewport,
    });
    const { page } = tab;
    await goTo(path, "No delivery selected");
    await failedEntry.focus();
    await page.keyboard.press("Enter");
    await detailHeading.waitFor();
    expect(page.url()).toContain("delivery=evt_2");
    expect(await failedEntry.getAttribute("aria-current")).toBe("true");
    expect(await list.isVisible()).toBe(true);
    const text = await tab.readText();
    for (const expectedText of [
      "POST https://shop.com/hook",
      `v1=${"ab".repeat(32)}`,
      '"amount": "25"',
      "HTTP 500",
      "time-out",
      "10:00:37 AM",
      "12 ms",
      "Response bodies aren't stored.",
    ])
      expect(text.replaceAll("\u202f", " ")).toContain(expectedText);
    expect(await findLayoutFaults(page)).toEqual([]);
    await page.getByRole("radio", { name: "Raw" }).check();
    expect(await page.getByRole("region", { name: "Body" }).textContent()).toBe(body);
  });

  test("has a URL for each selection and filter, which can be shared, and the back button works", async () => {
    const { context, detailHeading, failedEntry, goTo, list, path, requestedSearches, tab } =
      await signUpWithLog("wlog_url", { viewport });
    const { page } = tab;
    await goTo(path, "No delivery selected");
    await failedEntry.click();
    await detailHeading.waitFor();
    await page.getByLabel("Status").selectOption("Delivered");
    await failedEntry.waitFor({ state: "detached" });
    // The selected delivery stays open, even if the filter excludes it from the list.
    expect(await detailHeading.isVisible()).toBe(true);
    expect(requestedSearches.at(-1)).toContain("status=Delivered");
    const sharedTab = await context.newPage();
    await sharedTab.goto(page.url());
    await sharedTab.getByRole("heading", { level: 2, name: /transaction\.succeeded/ }).waitFor();
    expect(await sharedTab.getByLabel("Status").inputValue()).toBe("Delivered");
    await page.getByLabel("Event").selectOption("payment_link.completed");
    await page.waitForURL(/eventType/);
    await waitUntil("the filtered list is requested", () =>
      String(requestedSearches.at(-1)).includes(
        "status=Delivered&eventType=payment_link.completed",
      ),
    );
    await page.goBack();
    await page.goBack();
    await failedEntry.waitFor();
    await page.goBack();
    await tab.waitForText("No delivery selected");
    expect(await list.getByRole("link").count()).toBe(2);
  });

  test("says that a delivery of another endpoint does not exist", async () => {
    const { goTo, path } = await signUpWithLog("wlog_none", { viewport });
    await goTo(
      `${path}?delivery=evt_00000000000000000000000000`,
      "This page doesn't exist, or it belongs to another account.",
    );
  });
});

describe("the webhook log on a phone", () => {
  test("replaces the list with the selected delivery, and returns to its entry", async () => {
    const { detailHeading, failedEntry, goTo, list, path, tab } = await signUpWithLog(
      "wlog_phone",
      {
        viewport: { width: 320, height: 640 },
      },
    );
    const { page } = tab;
    await goTo(path, "payment_link.completed");
    expect(await tab.readText()).not.toContain("No delivery selected");
    expect(await findLayoutFaults(page)).toEqual([]);
    await failedEntry.click();
    await detailHeading.waitFor();
    expect(await list.isVisible()).toBe(false);
    await waitUntil("the heading has the focus", isFocused(detailHeading));
    expect(await findLayoutFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Back to deliveries" }).click();
    await waitUntil("the entry has the focus", isFocused(failedEntry));
    expect(await detailHeading.count()).toBe(0);
  });
});
