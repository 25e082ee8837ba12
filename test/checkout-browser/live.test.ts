import { waitUntil } from "@payment-links/runtime/testing";
import { type Payer, clickPay, canPay, listPaymentRequests } from "../rig/create-checkout.ts";
import { beforeEach, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { sqlVoid } from "@payment-links/postgres";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, describeSoak, test } = requireChromium();

const baseUnitsPerToken = 1_000_000n;

const rig = useCheckout();
// Waits until the streams of the previous test have ended.
beforeEach(() => waitForStreams(0));

/** Simulates the browser event for a page that becomes hidden or visible. */
const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

/** Opens the link's page. Returns a function that returns the number of page loads since then. */
const openLinkPage = async (payer: Payer): Promise<() => number> => {
  await payer.open();
  let loadCount = 0;
  payer.page.on("framenavigated", () => (loadCount += 1));
  return () => loadCount;
};

/** Returns the number of pages that follow their link through an event stream. */
const countStreams = async (): Promise<number> => {
  const { metrics } = rig.system.links.context;
  const metric = await metrics.getSingleMetric("payment_links_event_streams")?.get();
  return metric?.values[0]?.value ?? 0;
};
const waitForStreams = (expectedCount: number): Promise<true> =>
  waitUntil(
    `${expectedCount} streams are open`,
    async () => (await countStreams()) === expectedCount,
  );

/** Creates a link that expires soon. It has a payment that is in time and still in progress. */
const createExpiringLink = async (): Promise<Payer> => {
  const expirationDate = new Date(Date.now() + 8_000).toISOString();
  const options = { toAmount: "25", expirationDate };
  const link = await rig.system.createLink(options);
  // Pays before the browser starts, which takes seconds on a busy machine.
  await rig.chain.pay({ ...link, amount: 25n * baseUnitsPerToken });
  return rig.createPayer(options, {}, link);
};

/** Creates a link like {@link createExpiringLink}, and waits until it has expired. */
const createExpiredLink = async (): Promise<Payer> => {
  const payer = await createExpiringLink();
  await rig.system.waitForLink(
    payer.link.id,
    ({ status, payments }) => status === "inactive" && payments.length === 1,
  );
  return payer;
};

describe("an open page (rule CHAIN-15)", () => {
  test("shows a payment as seen and then as paid without a reload", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const countLoads = await openLinkPage(payer);
    let pageReadCount = 0;
    payer.page.on(
      "request",
      (request) => (pageReadCount += Number(request.url() === payer.link.pageUrl)),
    );
    await waitForStreams(1);
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await payer.waitForText("Payment of 25 USDC detected.");
    expect(await canPay(payer)).toBe(false);
    // At this point, the link itself has not changed yet.
    expect(pageReadCount).toBe(0);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    await payer.waitForText("View receipt");
    expect(await canPay(payer)).toBe(false);
    expect(await findAxeViolations(payer.page)).toEqual([]);
    expect(countLoads()).toBe(0);
  });

  test("shows each confirmation of a payment until it is paid, without announcing them to screen readers", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const countLoads = await openLinkPage(payer);
    await waitForStreams(1);
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    const confirmingElement = payer.page.locator("#confirming");
    const waitForConfirmingText = (expectedText: string) =>
      waitUntil(expectedText, async () => (await confirmingElement.textContent()) === expectedText);
    await waitForConfirmingText("Confirming (0 of 2)");
    await payer.page.evaluate(`
      globalThis.saidCount = 0;
      new MutationObserver(() => (globalThis.saidCount += 1))
        .observe(document.querySelector("#live"), { childList: true, subtree: true });
    `);
    // Without this, the event would be published at the earliest two seconds after the previous
    // block.
    await rig.system.settlements.pool.query(sqlVoid`UPDATE watchers SET advance_told_at = NULL`);
    await rig.chain.mine();
    await waitForConfirmingText("Confirming (1 of 2)");
    expect(await payer.page.evaluate("globalThis.saidCount")).toBe(0);
    const initialHtml = await (await fetch(payer.link.pageUrl)).text();
    expect(initialHtml).toContain("Confirming (1 of 2)");
    const germanRequest = { headers: { "accept-language": "de" } };
    expect(await (await fetch(payer.link.pageUrl, germanRequest)).text()).toContain(
      "Wird bestätigt (1 von 2)",
    );
    expect(await findAxeViolations(payer.page)).toEqual([]);
    await rig.chain.mine();
    await payer.waitForText("Payment complete");
    expect(countLoads()).toBe(0);
  });

  test("shows a partial payment and pays the rest without a reload", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const countLoads = await openLinkPage(payer);
    await payer.page.getByText("Advanced", { exact: true }).click();
    await rig.chain.pay({ ...payer.link, amount: 10n * baseUnitsPerToken });
    await rig.chain.mine(3);
    await payer.waitForText("10 of 25 USDC received, 15 left.");
    await payer.page.getByRole("button", { name: "Pay 15 USDC" }).waitFor();
    expect(await payer.page.locator("#details").getAttribute("open")).not.toBeNull();
    await clickPay(payer);
    await payer.waitForText("Payment of 15 USDC detected");
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(listPaymentRequests(payer.wallet)).toHaveLength(1);
    const { receivedAmount, payments } = await rig.system.readLink(payer.link.id);
    expect([receivedAmount, payments.map(({ amount }) => amount).sort()]).toEqual([
      "25",
      ["10", "15"],
    ]);
    expect(countLoads()).toBe(0);
  });

  test("polls if streams are rejected", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    let rejectedCount = 0;
    await payer.page.route("**/events*", (route) => {
      rejectedCount += 1;
      return route.fulfill({ status: 503 });
    });
    const countLoads = await openLinkPage(payer);
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await payer.waitForText("Payment of 25 USDC detected.");
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect([await countStreams(), rejectedCount > 0, countLoads()]).toEqual([0, true, 0]);
  });

  test("shows when it is offline and when it is back, including what happened in between", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const countLoads = await openLinkPage(payer);
    await waitForStreams(1);
    await payer.user.context.setOffline(true);
    await payer.waitForText("Can't update. Reconnecting…");
    await waitForStreams(0);
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.user.context.setOffline(false);
    await payer.waitForText("Payment complete");
    expect(await payer.readText()).not.toContain("Can't update");
    expect(countLoads()).toBe(0);
  });

  test("has no stream while it is hidden", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await openLinkPage(payer);
    await waitForStreams(1);
    await setHidden(payer.page, true);
    await waitForStreams(0);
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await rig.system.waitForLink(payer.link.id, ({ payments }) => payments.length === 1);
    await setHidden(payer.page, false);
    await payer.waitForText("Payment of 25 USDC detected.");
    await waitForStreams(1);
  });
});

describeSoak("an open page (rule CHAIN-15)", () => {
  test("shows its expiry, and then a payment that was in time and settles later", async () => {
    const payer = await createExpiringLink();
    const countLoads = await openLinkPage(payer);
    await payer.waitForText("This payment link has expired.");
    expect(await canPay(payer)).toBe(false);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(countLoads()).toBe(0);
  });

  test("reloads with the new script after a deployment of another version", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const countLoads = await openLinkPage(payer);
    await payer.page.route(
      payer.link.pageUrl,
      async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/page\.css\?v=\w+/, "page.css?v=next");
        await route.fulfill({ response, body });
      },
      { times: 1 },
    );
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(countLoads()).toBe(1);
  });
});

describe("a page that opens when its link can no longer be paid", () => {
  test("shows a pending payment that was in time, and then that it is paid, without a reload", async () => {
    const payer = await createExpiredLink();
    const countLoads = await openLinkPage(payer);
    await payer.waitForText("This payment link has expired.");
    await payer.waitForText("Payment of 25 USDC detected.");
    expect(await findAxeViolations(payer.page)).toEqual([]);
    await waitForStreams(1);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    await payer.waitForText("View receipt");
    expect(await payer.readText()).not.toContain("Payment of 25 USDC detected");
    expect(countLoads()).toBe(0);
  });

  test("has no stream if nothing can change anymore", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await openLinkPage(payer);
    await payer.waitForText("Payment complete");
    expect(await payer.page.locator("script[src*='followed.js']").count()).toBe(0);
    expect(await countStreams()).toBe(0);
  });
});

describeSoak("a page that opens when its link can no longer be paid", () => {
  test("shows when it is offline and when it is back, including what happened in between", async () => {
    const payer = await createExpiredLink();
    const countLoads = await openLinkPage(payer);
    await waitForStreams(1);
    await payer.user.context.setOffline(true);
    await payer.waitForText("Can't update. Reconnecting…");
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.user.context.setOffline(false);
    await payer.waitForText("Payment complete");
    expect(await payer.readText()).not.toContain("Can't update");
    expect(countLoads()).toBe(0);
  });
});
