import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { BrowserUser, Chromium, Tab } from "../rig/chromium.ts";
import { createWallet } from "../rig/wallet.ts";
import type { Shop } from "./create-shop.ts";
import { type UserOptions, createUser, requireNoViolations } from "./create-user.ts";
import type { Picture } from "./pictures.ts";

const phoneOptions = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
const computerOptions = { viewport: { width: 1280, height: 800 } };

/** Takes each picture in a browser with the shop's date, light colors and English texts. */
export const takePictures = async (
  chromium: Chromium,
  shop: Shop,
): Promise<Record<Picture, Buffer>> => ({
  "checkout-phone": await captureCheckout(chromium, shop, { ...phoneOptions, isMobile: true }),
  "checkout-computer": await captureCheckout(chromium, shop, computerOptions),
  ...(await captureConsole(chromium, shop)),
});

const takeScreenshot = async (user: BrowserUser, { page }: Tab): Promise<Buffer> => {
  requireNoViolations(user);
  return page.screenshot({ animations: "disabled", caret: "hide" });
};

const captureCheckout = async (
  chromium: Chromium,
  shop: Shop,
  options: UserOptions,
): Promise<Buffer> => {
  const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const wallet = createWallet({ nodeUrl: shop.nodeUrl, account, chainId: devnet.chainId });
  const user = await createUser(chromium, shop, { ...options, wallets: [wallet] });
  const tab = await user.openTab();
  await tab.goTo(shop.linkUrl);
  await tab.waitForText("Pay 25 USDC");
  return takeScreenshot(user, tab);
};

const captureConsole = async (chromium: Chromium, shop: Shop) => {
  const user = await createUser(chromium, shop, { ...computerOptions, cookie: shop.cookie });
  const tab = await user.openTab();
  await tab.goTo(`${shop.baseUrl}/console`);
  await tab.waitForText("Received in the last 30 days");
  await tab.waitForText("Recent payments");
  const overview = await takeScreenshot(user, tab);
  await tab.goTo(`${shop.baseUrl}/console/webhooks/${shop.endpointId}`);
  // The webhook that was rejected on the last day is pending. All earlier webhooks are delivered.
  const entries = tab.page.getByRole("list", { name: "Delivery log" }).getByRole("link");
  const countEntries = (status: string) => entries.filter({ hasText: status }).count();
  const hasExpectedEntries = async () =>
    (await countEntries("Delivered")) === 9 && (await countEntries("Pending")) === 1;
  await waitUntil("the log has its entries", hasExpectedEntries);
  await entries.filter({ hasText: "Pending" }).click();
  await tab.waitForText("Response bodies aren't stored.");
  await tab.page.setViewportSize({ ...computerOptions.viewport, height: 900 });
  return { overview, "webhook-log": await takeScreenshot(user, tab) };
};
