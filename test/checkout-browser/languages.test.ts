import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Payer, listPaymentRequests } from "../rig/create-checkout.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

/** `npm test` covers the language with the longest words, and one without spaces. */
const locales = sampleCases(
  ["de-DE", "es-ES", "fr-FR", "it-IT", "ja-JP", "pt-BR", "zh-CN"],
  (locale) => locale === "fr-FR" || locale === "ja-JP",
);

/** Expects that the page does not scroll sideways, and that no label is wider than its element. */
const expectNoOverflow = async ({ page }: Payer, state: string): Promise<void> => {
  const overflows = await page.evaluate<string[]>(`
    [document.documentElement, ...document.querySelectorAll("button, label, summary, h1, h2, li, dt, a")]
      .filter((element) => element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
      .map((element) => element.tagName + ": " + element.textContent.trim().slice(0, 60))`);
  expect([state, overflows]).toEqual([state, []]);
};

const payLink = async ({ link }: Payer): Promise<void> => {
  await rig.chain.pay({ ...link, amount: 25_000_000n });
  await rig.chain.mine(3);
  await rig.system.waitForLink(link.id, ({ status }) => status === "completed");
};

describe("a checkout on a small phone", () => {
  test.each(locales)("in the language %s fits in each state (rule API-28)", async (locale) => {
    const payer = await rig.createPayer(
      {
        toAmount: "25",
        walletNames: ["One", "Two"],
        owner: { isVerified: false, returnUrl: "https://return.example/" },
      },
      { locale, viewport: { width: 320, height: 568 } },
    );
    const { open, page, wallets } = payer;
    await open();
    const language = await page.evaluate<string>("document.documentElement.lang");
    expect(new Intl.Locale(language).language).toBe(new Intl.Locale(locale).language);
    for (const option of ["qr", "exchange", "wallet"]) {
      await page.locator(`#option-${option}`).check({ force: true });
      await expectNoOverflow(payer, option);
    }
    await page.evaluate('document.querySelectorAll("details").forEach((one) => (one.open = true))');
    await expectNoOverflow(payer, "details");

    for (const wallet of wallets) wallet.setHandler("eth_sendTransaction", neverRespond);
    await page.locator("#wallet").click();
    await page.getByRole("button", { name: "One", exact: true }).click();
    await waitUntil(
      "the wallet receives the payment request",
      () => wallets.flatMap(listPaymentRequests).length === 1,
    );
    await expectNoOverflow(payer, "a pending request");
    await page.reload();
    await page.locator("#gone").click();
    await expectNoOverflow(payer, "the dialog");

    await payLink(payer);
    await open();
    await expectNoOverflow(payer, "a paid link");
    const receiptPath = await page.evaluate<string>(
      `new URL(document.querySelector('a[href*="/tx/"]').href).pathname`,
    );
    await page.goto(new URL(receiptPath, payer.link.pageUrl).href);
    await page.locator("#print").waitFor();
    await expectNoOverflow(payer, "the receipt");
  });
});
