import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import { listPaymentRequests } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import {
  doubleText,
  findClippedText,
  findMotion,
  focusByTab,
  walkByKeyboard,
} from "../rig/walk-by-keyboard.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

const owner = { links: ["https://example.test/tea"], bio: "Loose leaf" };
const walletNames = ["One", "Two"];

describe("a payer without a mouse", () => {
  test("reaches everything on the checkout in order, with a visible focus", async () => {
    const payer = await rig.createPayer({ toAmount: "25", owner, walletNames });
    await payer.open("Pay 25 USDC");
    expect(await walkByKeyboard(payer.page)).toEqual([]);
    await payer.page.locator("#details > summary").focus();
    await payer.page.keyboard.press("Enter");
    expect(await walkByKeyboard(payer.page)).toEqual([]);
  });

  test("pays with Tab and Enter only", async () => {
    const payer = await rig.createPayer({ toAmount: "25", walletNames });
    await payer.open();
    await focusByTab(payer.page.getByRole("button", { name: /^Pay / }).first());
    await payer.page.keyboard.press("Enter");
    await payer.page.locator(":focus", { hasText: "One" }).waitFor();
    await payer.page.keyboard.press("Enter");
    await waitUntil(
      "the wallet receives the payment request",
      () => payer.wallets.flatMap(listPaymentRequests).length === 1,
    );
  });

  test("reaches everything on a receipt", async () => {
    const payer = await rig.createPayer({ toAmount: "25", owner });
    await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.open();
    const href = await payer.page.getByRole("link", { name: "View receipt" }).getAttribute("href");
    await payer.goTo(`${rig.system.publicUrl}${new URL(href ?? "").pathname}`, "Payment settled");
    expect(await walkByKeyboard(payer.page)).toEqual([]);
  });
});

describe("a payer with low vision", () => {
  test("can read the whole checkout at twice the text size, on a phone", async () => {
    const viewport = { width: 390, height: 844 };
    const payer = await rig.createPayer(
      { toAmount: "1234567.25", owner, walletNames },
      { viewport },
    );
    await doubleText(payer.page);
    await payer.open("Pay 1,234,567.25 USDC");
    await payer.page.getByText("Advanced", { exact: true }).click();
    expect(await findClippedText(payer.page)).toEqual([]);
    const widthsScript = "[document.documentElement.scrollWidth, innerWidth]";
    expect(await payer.page.evaluate(widthsScript)).toEqual([390, 390]);
  });
});

describe("a payer who prefers reduced motion", () => {
  test("sees no animation", async () => {
    const payer = await rig.createPayer({ toAmount: "25", owner }, { reducedMotion: "reduce" });
    await payer.open("Pay 25 USDC");
    expect(await findMotion(payer.page)).toEqual([]);
  });
});
