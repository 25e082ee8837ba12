import { expect } from "@jest/globals";
import { requireChromium } from "../rig/require-chromium.ts";
import { blockStatusPolling, canPay } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const hourMs = 60 * 60_000;

const rig = useCheckout();

/**
 * Opens a link's page for a payer in New York whose clock is ahead. The page receives no updates
 * afterwards.
 */
const openExpiringLink = async (expirationDate: Date, aheadMs = 0) => {
  const payer = await rig.createPayer(
    { toAmount: "25", expirationDate: expirationDate.toISOString() },
    { locale: "en-US", timezoneId: "America/New_York" },
  );
  await blockStatusPolling(payer);
  await payer.page.addInitScript(`window.aheadMs = ${aheadMs};
    const now = Date.now; Date.now = () => now() + window.aheadMs;`);
  await payer.open();
  return payer;
};

describe("a link's expiry (rule API-29)", () => {
  test("is shown in the reader's time zone and language, without a countdown while it is far away", async () => {
    const payer = await openExpiringLink(new Date("2031-12-24T18:00:00Z"));
    await payer.waitForText("Dec 24, 2031, 1:00 PM EST");
    expect(await payer.readText()).not.toContain("Expires in");
    expect(await payer.readText()).not.toContain("expired");
  });

  test("has a countdown within the last day, and the page shows the expiry without a reload", async () => {
    const payer = await openExpiringLink(new Date(Date.now() + hourMs));
    await payer.waitForText("Expires in 00:5");
    expect(await canPay(payer)).toBe(true);
    expect(await payer.page.getByRole("timer").count()).toBe(1);
    let navigationCount = 0;
    payer.page.on("framenavigated", () => (navigationCount += 1));
    await payer.page.evaluate(`window.aheadMs = ${hourMs}`);
    await payer.waitForText("This payment link has expired.");
    await payer.waitForText("Do not send anything to it. Ask the seller for a new link.");
    const text = await payer.readText();
    expect(text).not.toContain("Pay 25 USDC");
    expect(text).not.toContain("Expires in");
    await payer.page.getByText("Advanced", { exact: true }).click();
    expect(await payer.readText()).not.toContain("Payment contract");
    expect(await canPay(payer)).toBe(false);
    expect(navigationCount).toBe(0);
  });

  test("follows the service's clock, even if the payer's device has a wrong clock", async () => {
    const payer = await openExpiringLink(new Date(Date.now() + hourMs), 5 * hourMs);
    await payer.waitForText("Expires in 00:5");
    expect(await canPay(payer)).toBe(true);
  });
});
