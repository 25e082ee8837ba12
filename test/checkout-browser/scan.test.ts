import { expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingBtcd } from "@payment-links/settlement-listener/testing/needing-btcd";
import { type Tab, connectChromium } from "../rig/chromium.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type LocalFamily, openBitcoin, tokenFamilies } from "../rig/local-families.ts";
import { openPaymentSystem } from "../rig/payment-system.ts";
import { doubleText, findCutText, findMotion, walkByKeyboard } from "../rig/walk-by-keyboard.ts";

const { isThere, describe, test } = needingChromium();
const btcd = await needingBtcd();

type Family = {
  open: () => Promise<LocalFamily>;
  amount: string;
  symbol: string;
  /** What a wallet is led to open, as the family's standard has it. */
  request: RegExp;
};

const openSolana = (): Promise<LocalFamily> => {
  const [, open] = tokenFamilies.find(([name]) => name === "Solana") ?? [];
  if (open === undefined) throw new Error("there is no Solana");
  return open();
};

/** Links of one family, and a browser in which they are looked at. */
const openScanned = async ({ open, amount, symbol }: Family) => {
  const chain = await open();
  const { settings, finalizedLag } = chain;
  const system = await openPaymentSystem({ chain, settings, finalizedLag });
  await system.startWatcher();
  const chromium = await connectChromium();
  return {
    chain,
    system,
    /** Opens a new link's page; what the policy stopped or went elsewhere is told at its end. */
    look: async (
      story: (tab: Tab, link: Awaited<ReturnType<typeof system.createLink>>) => Promise<void>,
      options: { locale?: string; viewport?: { width: number; height: number } } = {},
      prepare: (tab: Tab) => Promise<void> = () => Promise.resolve(),
    ): Promise<void> => {
      const link = await system.createLink({ toAmount: amount });
      const person = await chromium.openPerson({ origin: system.publicUrl, ...options });
      const tab = await person.openTab();
      await prepare(tab);
      await tab.goTo(link.pageUrl);
      await tab.see(`${options.locale === "de" ? amount.replace(".", ",") : amount} ${symbol}`);
      await story(tab, link);
      await person.close();
      expect(person.faults).toEqual([]);
    },
    close: async (): Promise<void> => {
      await chromium.close();
      await system.close();
      await chain.close();
    },
  };
};

/** What holds for whoever pays by scanning, whatever the family. */
const playFamily = (family: Family): void => {
  const rig = useRig(() => openScanned(family));
  const { amount, symbol, request } = family;

  test("is paid by the request that the page shows, and the page follows it without a reload", async () => {
    await rig.look(async ({ page, see }, link) => {
      const button = page.getByRole("link", { name: `Pay ${amount} ${symbol} in your wallet` });
      expect(await button.getAttribute("href")).toMatch(request);
      const code = page.getByAltText("QR code of the payment request");
      await code.scrollIntoViewIfNeeded();
      const drawn = `document.querySelector("figure.qr img").naturalWidth > 0`;
      await waitUntil("the code's image", () => page.evaluate<boolean>(drawn));
      expect(await findAxeFaults(page)).toEqual([]);
      await page.evaluate("window.isTheSame = true");
      await rig.chain.pay({ ...link, amount: rig.chain.unit * 25n });
      await rig.chain.mine(1);
      await see(`A payment of ${amount} ${symbol} was seen and is being confirmed.`);
      await rig.chain.mine(3);
      await see("This payment link has been paid.");
      expect(await page.evaluate("window.isTheSame")).toBe(true);
      expect(await button.count()).toBe(0);
      expect(await findAxeFaults(page)).toEqual([]);
    });
  });

  test("is told in German, on the smallest phone and by keyboard, without an overhang", async () => {
    await rig.look(
      async ({ page, see }) => {
        await see("in Ihrer Wallet bezahlen");
        for (const summary of await page.locator("summary").all()) await summary.click();
        expect(await findAxeFaults(page)).toEqual([]);
        expect(await findCutText(page)).toEqual([]);
        expect(await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")).toEqual([
          320, 320,
        ]);
        expect(await walkByKeyboard(page)).toEqual([]);
      },
      { locale: "de", viewport: { width: 320, height: 640 } },
    );
  });

  test("is read at twice the size of its text, with nothing that moves by itself", async () => {
    await rig.look(
      async ({ page }) => {
        await page.emulateMedia({ reducedMotion: "reduce" });
        for (const summary of await page.locator("summary").all()) await summary.click();
        expect(await findCutText(page)).toEqual([]);
        expect(await findMotion(page)).toEqual([]);
      },
      { viewport: { width: 390, height: 844 } },
      ({ page }) => doubleText(page),
    );
  });
};

describe("a link on Solana", () => {
  playFamily({ open: openSolana, amount: "25", symbol: "USDC", request: /^solana:\S+$/ });
});

// A chromium and a btcd, each of which may be missing.
const describeBitcoin = isThere ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  playFamily({
    open: () => openBitcoin(btcd.program),
    amount: "0.00025",
    symbol: "BTC",
    request: /^bitcoin:\S+\?amount=0\.00025&/,
  });
});
