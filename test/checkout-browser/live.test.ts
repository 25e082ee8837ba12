import { beforeEach, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { nothing } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { countStreams, openExpired, openPage, untilStreams } from "../rig/follow-link.ts";
import { clickPay, mayPay, paymentsOf } from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = needingChromium();

const units = 1_000_000n;

const rig = useCheckout();
// Those of the test before.
beforeEach(() => untilStreams(rig, 0));

/** As a browser says that the page is covered, or seen again. */
const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

describe("a page that is left open (rule CHAIN-15)", () => {
  test("shows a payment seen, then paid, without being loaded anew", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const countLoads = await openPage(payer);
    let pagesRead = 0;
    payer.page.on(
      "request",
      (request) => (pagesRead += Number(request.url() === payer.link.pageUrl)),
    );
    await untilStreams(rig, 1);
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    await payer.see("A payment of 25 USDC was seen and is being confirmed.");
    expect(await mayPay(payer)).toBe(false);
    // Nothing of the link itself has changed yet.
    expect(pagesRead).toBe(0);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    await payer.see("Receipt of the last payment");
    expect(await mayPay(payer)).toBe(false);
    expect(await findAxeFaults(payer.page)).toEqual([]);
    expect(countLoads()).toBe(0);
  });

  test("counts the blocks on top of a payment until it is paid, and reads none of them out", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const countLoads = await openPage(payer);
    await untilStreams(rig, 1);
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    const confirming = payer.page.locator("#confirming");
    const untilConfirming = (words: string) =>
      waitUntil(words, async () => (await confirming.textContent()) === words);
    await untilConfirming("Confirming (0 of 2)");
    await payer.page.evaluate(`
      globalThis.saidCount = 0;
      new MutationObserver(() => (globalThis.saidCount += 1))
        .observe(document.querySelector("#live"), { childList: true, subtree: true });
    `);
    // Otherwise it would be told two seconds after the block before.
    await rig.system.settlements.pool.query(nothing`UPDATE watchers SET advance_told_at = NULL`);
    await rig.chain.mine();
    await untilConfirming("Confirming (1 of 2)");
    expect(await payer.page.evaluate("globalThis.saidCount")).toBe(0);
    const first = await (await fetch(payer.link.pageUrl)).text();
    expect(first).toContain("Confirming (1 of 2)");
    const german = { headers: { "accept-language": "de" } };
    expect(await (await fetch(payer.link.pageUrl, german)).text()).toContain(
      "Wird bestätigt (1 von 2)",
    );
    expect(await findAxeFaults(payer.page)).toEqual([]);
    await rig.chain.mine();
    await payer.see("This payment link has been paid.");
    expect(countLoads()).toBe(0);
  });

  test("shows a part of the amount, and pays what is left, without being loaded anew", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const countLoads = await openPage(payer);
    await payer.page.getByText("Details", { exact: true }).click();
    await rig.chain.pay({ ...payer.link, amount: 10n * units });
    await rig.chain.mine(3);
    await payer.see("10 of 25 USDC received, 15 left.");
    await payer.page.getByRole("button", { name: "Pay 15 USDC" }).waitFor();
    expect(await payer.page.locator("#details").getAttribute("open")).not.toBeNull();
    await clickPay(payer);
    await payer.see("A payment of 15 USDC was seen");
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(paymentsOf(payer.wallet)).toHaveLength(1);
    const { receivedAmount, payments } = await rig.system.show(payer.link.id);
    expect([receivedAmount, payments.map(({ amount }) => amount).sort()]).toEqual([
      "25",
      ["10", "15"],
    ]);
    expect(countLoads()).toBe(0);
  });

  test("asks again and again where streams are refused", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    let refusedCount = 0;
    await payer.page.route("**/events*", (route) => {
      refusedCount += 1;
      return route.fulfill({ status: 503 });
    });
    const countLoads = await openPage(payer);
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    await payer.see("A payment of 25 USDC was seen and is being confirmed.");
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect([await countStreams(rig), refusedCount > 0, countLoads()]).toEqual([0, true, 0]);
  });

  test("says that it is offline, and that it is back, with what happened meanwhile", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const countLoads = await openPage(payer);
    await untilStreams(rig, 1);
    await payer.person.context.setOffline(true);
    await payer.see("How this link stands cannot be read right now.");
    await untilStreams(rig, 0);
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    await rig.chain.mine(3);
    await rig.system.showWhen(payer.link.id, ({ status }) => status === "completed");
    await payer.person.context.setOffline(false);
    await payer.see("This payment link has been paid.");
    expect(await payer.text()).not.toContain("cannot be read right now");
    expect(countLoads()).toBe(0);
  });

  test("has no stream while nobody sees it", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await openPage(payer);
    await untilStreams(rig, 1);
    await setHidden(payer.page, true);
    await untilStreams(rig, 0);
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    await rig.system.showWhen(payer.link.id, ({ payments }) => payments.length === 1);
    await setHidden(payer.page, false);
    await payer.see("A payment of 25 USDC was seen and is being confirmed.");
    await untilStreams(rig, 1);
  });
});

describe("a page that is opened once nothing can be paid there", () => {
  test("shows a payment in time that is on its way, then paid, without being loaded anew", async () => {
    const payer = await openExpired(rig);
    const countLoads = await openPage(payer);
    await payer.see("This payment link has expired.");
    await payer.see("A payment of 25 USDC was seen and is being confirmed.");
    expect(await findAxeFaults(payer.page)).toEqual([]);
    await untilStreams(rig, 1);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    await payer.see("Receipt of the last payment");
    expect(await payer.text()).not.toContain("A payment of 25 USDC was seen");
    expect(countLoads()).toBe(0);
  });

  test("has no stream where nothing can change any more", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    await rig.chain.mine(3);
    await rig.system.showWhen(payer.link.id, ({ status }) => status === "completed");
    await openPage(payer);
    await payer.see("This payment link has been paid.");
    expect(await payer.page.locator("script[src*='followed.js']").count()).toBe(0);
    expect(await countStreams(rig)).toBe(0);
  });
});
