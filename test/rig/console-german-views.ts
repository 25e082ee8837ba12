import { expect } from "@jest/globals";
import { findAxeViolations } from "./find-axe-violations.ts";
import { measureOverflow } from "./create-console.ts";
import type { Console, ConsoleUser } from "./use-console.ts";

const accountCacheMsMax = 60_000;

/** Each view of an empty account in German, and the text that it shows. */
const germanViews: [string, string][] = [
  ["", "Einrichtung abschließen"],
  ["/links", "Links brauchen einen Handle und eine Standard-Wallet"],
  ["/keys", "Hier erscheinen Ihre API-Schlüssel."],
  ["/webhooks", "Hier erscheinen Ihre Webhook-Endpunkte."],
  ["/account/profile", "Vorschau"],
  ["/account/wallets", "Hier erscheinen Ihre Wallets."],
  ["/account/sign-in", "Keine"],
  ["/account/sessions", "Aktive Sitzungen"],
  ["/account/log", "Anmeldelink erstellt"],
];

/** Returns the views that are almost empty without data, and the text that they show with data. */
const filledViews = (linkId: string, endpointId: string): [string, string][] => [
  ["", "Bald ablaufende API-Schlüssel"],
  ["/links", "12.345,67 USDC"],
  ["/links/new", "Bezahlt wird in USDC auf Base, direkt an"],
  [`/links/${linkId}`, "Hier erscheinen Webhook-Zustellungen zu diesem Link."],
  ["/keys", "Links erstellen, Links lesen"],
  ["/webhooks", "Aktiviert"],
  [`/webhooks/${endpointId}`, "Hier erscheinen Zustellungen."],
  ["/account/wallets", "Standard auf Base"],
];

/**
 * Visits the views of a new account in German. With `includesEmptyViews`, also visits the views of
 * the empty account and runs axe.
 */
export const expectGermanViews = async (
  system: Console,
  handle: string,
  { includesEmptyViews = false } = {},
): Promise<ConsoleUser> => {
  const viewport = { width: 320, height: 640 };
  const user = await system.signUp(handle, { locale: "de-DE", viewport });
  const { context, goTo, tab } = user;
  const expectViews = async (views: readonly [string, string][]): Promise<void> => {
    for (const [path, expectedText] of views) {
      await goTo(path);
      await tab.waitForText(expectedText);
      expect(await tab.page.locator("html").getAttribute("lang")).toBe("de");
      if (includesEmptyViews) expect([path, await findAxeViolations(tab.page)]).toEqual([path, []]);
      expect([path, await measureOverflow(tab)]).toEqual([path, 0]);
    }
  };
  const post = async (path: string, data: object): Promise<string> => {
    const url = `${system.origin}/console/api/${path}`;
    return String((await (await context.request.post(url, { data })).json()).id);
  };
  if (includesEmptyViews) await expectViews(germanViews);
  const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
  await post("wallets", { walletAddress, tokenId: "usdc-base", isDefault: true });
  // Services can use cached account data for this long.
  system.clock.advance(accountCacheMsMax);
  const linkId = await post("payment-links", { toAmount: "12345.67" });
  await post("api-keys", {
    name: "Laden",
    scopes: ["payment_link:create", "payment_link:read"],
  });
  const url = "https://shop.com/hook";
  const endpointId = await post("webhook-endpoints", { url, name: "Laden" });
  await expectViews(filledViews(linkId, endpointId));
  return user;
};
