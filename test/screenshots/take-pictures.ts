import type { BrowserContextOptions } from "playwright-core";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Chromium, type Person, type Tab, openChromium } from "../rig/chromium.ts";
import { openWallet } from "../rig/wallet.ts";
import type { openShop } from "./open-shop.ts";
import type { Picture } from "./pictures.ts";

type Shop = Awaited<ReturnType<typeof openShop>>;

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
const computer = { viewport: { width: 1280, height: 800 } };

/** Takes each picture in a browser that has the shop's own day, light colours and English words. */
export const takePictures = async (
  program: string,
  shop: Shop,
): Promise<Record<Picture, Buffer>> => {
  const chromium = await openChromium(program);
  try {
    return {
      "checkout-phone": await takeCheckout(chromium, shop, { ...phone, isMobile: true }),
      "checkout-computer": await takeCheckout(chromium, shop, computer),
      ...(await takeConsole(chromium, shop)),
    };
  } finally {
    await chromium.close();
  }
};

type Options = BrowserContextOptions & Pick<Parameters<Chromium["openPerson"]>[0], "wallets">;

const openPerson = async (chromium: Chromium, shop: Shop, options: Options): Promise<Person> => {
  const own = { colorScheme: "light", locale: "en-US", timezoneId: "UTC" } as const;
  const person = await chromium.openPerson({ origin: shop.baseUrl, ...own, ...options });
  await person.context.clock.setFixedTime(shop.now);
  return person;
};

const take = async ({ faults }: Person, { page }: Tab): Promise<Buffer> => {
  if (faults.length > 0) throw new Error(`a page was stopped: ${faults.join(", ")}`);
  return page.screenshot({ animations: "disabled", caret: "hide" });
};

const takeCheckout = async (chromium: Chromium, shop: Shop, options: Options): Promise<Buffer> => {
  const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const wallet = openWallet({ nodeUrl: shop.nodeUrl, account, chainId: devnet.chainId });
  const person = await openPerson(chromium, shop, { ...options, wallets: [wallet] });
  const tab = await person.openTab();
  await tab.goTo(shop.linkUrl);
  await tab.see("Pay 25 USDC");
  return take(person, tab);
};

const takeConsole = async (chromium: Chromium, shop: Shop) => {
  const person = await openPerson(chromium, shop, computer);
  const cookies = shop.cookie.split("; ").map((pair) => pair.split("="));
  await person.context.addCookies(
    cookies.map(([name = "", value = ""]) => ({ name, value, url: shop.baseUrl })),
  );
  const tab = await person.openTab();
  await tab.goTo(`${shop.baseUrl}/console`);
  await tab.see("Received in the last 30 days");
  await tab.see("All endpoints answer.");
  const overview = await take(person, tab);
  await tab.goTo(`${shop.baseUrl}/console/webhooks/${shop.endpointId}`);
  // What the shop's receiver refused on the last day waits; all before it has been delivered.
  const rows = tab.page.getByRole("row");
  const countOf = (state: string) => rows.filter({ hasText: state }).count();
  const isThere = async () =>
    (await countOf("Delivered")) === 9 && (await countOf("Waiting")) === 1;
  await waitUntil("the log", isThere);
  await tab.page.setViewportSize({ ...computer.viewport, height: 900 });
  return { overview, "webhook-log": await take(person, tab) };
};
