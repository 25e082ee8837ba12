import { expect } from "@jest/globals";
import { findAxeFaults } from "./find-axe-faults.ts";
import { findOverhang } from "./open-console.ts";
import type { Console, ConsolePerson } from "./use-console.ts";

const knownMsMax = 60_000;

/** Each view of an empty account in German, and what it shows. */
const germanViews: [string, string][] = [
  ["", "Einrichten"],
  ["/links", "Wählen Sie zuerst einen Handle und eine Standard-Wallet"],
  ["/keys", "Noch keine Schlüssel."],
  ["/webhooks", "Noch keine Endpunkte."],
  ["/account/profile", "Was Zahlende sehen"],
  ["/account/wallets", "Noch keine Wallets."],
  ["/account/sign-in", "Noch nichts."],
  ["/account/sessions", "Wo Sie angemeldet sind"],
  ["/account/log", "Anmeldelink ausgestellt"],
];

/** What those show that show next to nothing before there is anything. */
const filledViews = (linkId: string, endpointId: string): [string, string][] => [
  ["", "Schlüssel, die bald ablaufen"],
  ["/links", "12.345,67 USDC"],
  ["/links/new", "Bezahlt wird in USDC auf Base, direkt an"],
  [`/links/${linkId}`, "Noch wurde keinem Endpunkt davon berichtet."],
  ["/keys", "Links anlegen, Links lesen"],
  ["/webhooks", "Eingeschaltet"],
  [`/webhooks/${endpointId}`, "Noch wurde nichts gesendet."],
  ["/account/wallets", "Standard auf Base"],
];

/** Visits the views of a new account in German; with `isWhole` also those that show next to nothing, and with axe. */
export const walkGermanViews = async (
  system: Console,
  handle: string,
  { isWhole = false } = {},
): Promise<ConsolePerson> => {
  const viewport = { width: 320, height: 640 };
  const person = await system.signUp(handle, { locale: "de-DE", viewport });
  const { context, goTo, tab } = person;
  const look = async (views: readonly [string, string][]): Promise<void> => {
    for (const [path, shown] of views) {
      await goTo(path);
      await tab.see(shown);
      expect(await tab.page.locator("html").getAttribute("lang")).toBe("de");
      if (isWhole) expect([path, await findAxeFaults(tab.page)]).toEqual([path, []]);
      expect([path, await findOverhang(tab)]).toEqual([path, 0]);
    }
  };
  const post = async (path: string, data: object): Promise<string> => {
    const url = `${system.origin}/console/api/${path}`;
    return String((await (await context.request.post(url, { data })).json()).id);
  };
  if (isWhole) await look(germanViews);
  const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
  await post("wallets", { walletAddress, tokenId: "usdc-base", isDefault: true });
  // So long services may go on with what they know of an account.
  system.clock.advance(knownMsMax);
  const linkId = await post("payment-links", { toAmount: "12345.67" });
  await post("api-keys", {
    name: "Laden",
    scopes: ["payment_link:create", "payment_link:read"],
  });
  const url = "https://shop.com/hook";
  const endpointId = await post("webhook-endpoints", { url, name: "Laden" });
  await look(filledViews(linkId, endpointId));
  return person;
};
