import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Tab, connectChromium } from "./chromium.ts";
import { findAxeFaults } from "./find-axe-faults.ts";
import { type LocalFamily, openBitcoin, tokenFamilies } from "./local-families.ts";
import { openPaymentSystem } from "./payment-system.ts";
import { doubleText, findCutText, findMotion, walkByKeyboard } from "./walk-by-keyboard.ts";

export type Family = {
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
export const openScanned = async ({ open, amount, symbol }: Family) => {
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

export type Scanned = Awaited<ReturnType<typeof openScanned>>;

export const solana: Family = {
  open: openSolana,
  amount: "25",
  symbol: "USDC",
  request: /^solana:\S+$/,
};

/** `program` is where `btcd` is. */
export const bitcoinBy = (program: Parameters<typeof openBitcoin>[0]): Family => ({
  open: () => openBitcoin(program),
  amount: "0.00025",
  symbol: "BTC",
  request: /^bitcoin:\S+\?amount=0\.00025&/,
});

/** A link is paid by the request that its page shows, and the page follows it without a reload. */
export const expectPaidByScan = async (
  rig: Scanned,
  { amount, symbol, request }: Family,
): Promise<void> => {
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
};

/** The page is in German, fits the smallest phone and is reached by keyboard. */
export const expectGermanOnSmallPhone = async (rig: Scanned): Promise<void> => {
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
};

/** The page can be read at twice the size of its text, and nothing moves by itself. */
export const expectLargeAndStill = async (rig: Scanned): Promise<void> => {
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
};
