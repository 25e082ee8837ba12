import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Payer, paymentsOf } from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { doubleText, findCutText, findMotion, walkByKeyboard } from "../rig/walk-by-keyboard.ts";

const { describe, test } = needingChromium();

const rig = useCheckout();

const owner = { links: ["https://example.test/tea"], bio: "Loose leaf" };
const walletNames = ["One", "Two"];

/** Presses Tab until the focus is on a button of that name. */
const tabTo = async ({ page }: Payer, name: string | RegExp): Promise<void> => {
  const button = page.getByRole("button", { name });
  await button.first().waitFor();
  await waitUntil(`the focus on ${String(name)}`, async () => {
    await page.keyboard.press("Tab");
    return button.first().evaluate((one) => one.matches(":focus"));
  });
};

describe("a payer without a mouse", () => {
  test("reaches everything on the checkout in its order, and sees where they are", async () => {
    const payer = await rig.openPayer({ toAmount: "25", owner, walletNames });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 25 USDC");
    expect(await walkByKeyboard(payer.page)).toEqual([]);
    await payer.page.locator("#details > summary").focus();
    await payer.page.keyboard.press("Enter");
    expect(await walkByKeyboard(payer.page)).toEqual([]);
  });

  test("pays by Tab and Enter alone", async () => {
    const payer = await rig.openPayer({ toAmount: "25", walletNames });
    await payer.goTo(payer.link.pageUrl);
    await tabTo(payer, /^Pay /);
    await payer.page.keyboard.press("Enter");
    await payer.page.locator(":focus", { hasText: "One" }).waitFor();
    await payer.page.keyboard.press("Enter");
    await waitUntil("the payment", () => payer.wallets.flatMap(paymentsOf).length === 1);
  });

  test("reaches everything on a receipt", async () => {
    const payer = await rig.openPayer({ toAmount: "25", owner });
    await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
    await rig.chain.mine(3);
    await rig.system.showWhen(payer.link.id, ({ status }) => status === "completed");
    await payer.goTo(payer.link.pageUrl);
    const href = await payer.page.getByRole("link", { name: /^Receipt/ }).getAttribute("href");
    await payer.goTo(`${rig.system.publicUrl}${new URL(href ?? "").pathname}`);
    await payer.see("This payment has settled.");
    expect(await walkByKeyboard(payer.page)).toEqual([]);
  });
});

describe("a payer who sees little", () => {
  test("reads all of a checkout at twice the size of its text, on a phone", async () => {
    const viewport = { width: 390, height: 844 };
    const payer = await rig.openPayer({ toAmount: "1234567.25", owner, walletNames }, { viewport });
    await doubleText(payer.page);
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 1,234,567.25 USDC");
    await payer.page.getByText("Details", { exact: true }).click();
    expect(await findCutText(payer.page)).toEqual([]);
    const widths = "[document.documentElement.scrollWidth, innerWidth]";
    expect(await payer.page.evaluate(widths)).toEqual([390, 390]);
  });
});

describe("a payer who wants less motion", () => {
  test("sees nothing move", async () => {
    const payer = await rig.openPayer({ toAmount: "25", owner }, { reducedMotion: "reduce" });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 25 USDC");
    expect(await findMotion(payer.page)).toEqual([]);
  });
});
