import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Tab, connectChromium } from "../rig/chromium.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { type LocalFamily, startBitcoin, startSolana } from "../rig/local-families.ts";
import { createPaymentSystem } from "../rig/payment-system.ts";
import {
  doubleText,
  findClippedText,
  findMotion,
  walkByKeyboard,
} from "../rig/walk-by-keyboard.ts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { isSoakRun } from "@payment-links/runtime/testing/property-runs";
import { requireChromium } from "../rig/require-chromium.ts";

const { isAvailable: hasChromium, describe, test } = requireChromium();
const btcd = await requireBtcd();

type Family = {
  startChain: () => Promise<LocalFamily>;
  amount: string;
  symbol: string;
  /**
   * The payment request that the page offers to a wallet, in the format of the family's standard.
   */
  requestPattern: RegExp;
};

/** Creates links of one family and a browser that opens their pages. */
const createScannedCheckout = async ({ startChain, amount, symbol }: Family) => {
  const chain = await startChain();
  const { settings, finalizedLag } = chain;
  const system = await createPaymentSystem({ chain, settings, finalizedLag });
  await system.startWatcher();
  const chromium = await connectChromium();
  return {
    chain,
    system,
    /**
     * Opens a new link's page and runs a scenario. Then expects that there were no violations of
     * the content security policy and no requests to other origins.
     */
    runScenario: async (
      scenario: (tab: Tab, link: Awaited<ReturnType<typeof system.createLink>>) => Promise<void>,
      options: { locale?: string; viewport?: { width: number; height: number } } = {},
      prepareTab: (tab: Tab) => Promise<void> = () => Promise.resolve(),
    ): Promise<void> => {
      const link = await system.createLink({ toAmount: amount });
      const user = await chromium.createBrowserUser({ origin: system.publicUrl, ...options });
      const tab = await user.openTab();
      await prepareTab(tab);
      await tab.goTo(link.pageUrl);
      await tab.waitForText(
        `${options.locale === "de" ? amount.replace(".", ",") : amount} ${symbol}`,
      );
      await scenario(tab, link);
      await user.close();
      expect(user.violations).toEqual([]);
    },
    close: async (): Promise<void> => {
      await chromium.close();
      await system.close();
      await chain.close();
    },
  };
};

const solana: Family = {
  startChain: startSolana,
  amount: "25",
  symbol: "USDC",
  requestPattern: /^solana:\S+$/,
};

/** `program` is the path of `btcd`. */
const createBitcoinFamily = (program: Parameters<typeof startBitcoin>[0]): Family => ({
  startChain: () => startBitcoin(program),
  amount: "0.00025",
  symbol: "BTC",
  requestPattern: /^bitcoin:\S+\?amount=0\.00025&/,
});

const describeScan = (family: Family, isSampled: boolean) => {
  const rig = useRig(() => createScannedCheckout(family));

  test("is paid by the request on the page, and the page updates without a reload", async () => {
    const { amount, symbol, requestPattern } = family;
    await rig.runScenario(async ({ page, waitForCopiedText, waitForText }, link) => {
      const code = page.getByAltText("QR code of the payment request");
      await code.scrollIntoViewIfNeeded();
      const codeLoadedExpression = `document.querySelector("#qr-option img").naturalWidth > 0`;
      await waitUntil("the QR code is loaded", () => page.evaluate<boolean>(codeLoadedExpression));
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "Copy amount" }).click();
      await waitForCopiedText(amount);
      expect(await findAxeViolations(page)).toEqual([]);
      await page.getByRole("radio", { name: "Wallet" }).check();
      const button = page.getByRole("link", { name: `Pay ${amount} ${symbol} in your wallet` });
      expect(await button.getAttribute("href")).toMatch(requestPattern);
      expect(await findAxeViolations(page)).toEqual([]);
      await page.evaluate("window.isTheSame = true");
      await rig.chain.pay({ ...link, amount: rig.chain.amountUnit * 25n });
      await rig.chain.mine(1);
      await waitForText(`Payment of ${amount} ${symbol} detected.`);
      // A second payment would be money lost for the payer.
      expect([await button.count(), await code.count()]).toEqual([0, 0]);
      expect(await page.getByRole("radio").count()).toBe(0);
      await rig.chain.mine(3);
      await waitForText("Payment complete");
      expect(await page.evaluate("window.isTheSame")).toBe(true);
      expect(await findAxeViolations(page)).toEqual([]);
    });
  });

  if (isSoakRun || isSampled)
    test("fits the smallest phone in German and works by keyboard", async () => {
      await rig.runScenario(
        async ({ page, waitForText }) => {
          await page.getByRole("radio", { name: "Wallet" }).check();
          await waitForText("in Ihrer Wallet bezahlen");
          for (const summary of await page.locator("summary:visible").all()) await summary.click();
          expect(await findAxeViolations(page)).toEqual([]);
          expect(await findClippedText(page)).toEqual([]);
          expect(await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")).toEqual(
            [320, 320],
          );
          expect(await walkByKeyboard(page)).toEqual([]);
        },
        { locale: "de", viewport: { width: 320, height: 640 } },
      );
    });

  if (isSoakRun)
    test("is readable at twice the text size, without any animation", async () => {
      await rig.runScenario(
        async ({ page }) => {
          await page.emulateMedia({ reducedMotion: "reduce" });
          for (const summary of await page.locator("summary:visible").all()) await summary.click();
          expect(await findClippedText(page)).toEqual([]);
          expect(await findMotion(page)).toEqual([]);
        },
        { viewport: { width: 390, height: 844 } },
        ({ page }) => doubleText(page),
      );
    });
};

describe("a link on Solana", () => describeScan(solana, true));

// Requires Chromium and btcd. Skips the tests if one of them is missing.
const describeBitcoin = hasChromium ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => describeScan(createBitcoinFamily(btcd.program), false));
