import { expect } from "@jest/globals";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { useConsole } from "../rig/use-console.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { isSoakRun } from "@payment-links/runtime/testing/property-runs";

const { describe, test } = requireChromium();

const system = useConsole();

/** Each view with a text that it shows when its data has loaded. */
const views: [string, string][] = [
  ["", "Finish setup"],
  ["/links", "Links need a handle and a default wallet"],
  ["/links/new", "Links need a handle and a default wallet"],
  ["/keys", "Your API keys will appear here."],
  ["/webhooks", "Your webhook endpoints will appear here."],
  ["/account/profile", "Preview"],
  ["/account/wallets", "Your wallets will appear here."],
  ["/account/sign-in", "No linked accounts"],
  ["/account/sessions", "Active sessions"],
  ["/account/notifications", "This installation does not send email."],
  ["/account/log", "Sign-in link created"],
  ["/command", "Enter the code that this command shows"],
  ["/developers", "Check a signature"],
  ["/deposits", "Transfers without a link will appear here."],
  ["/nowhere", "Page not found"],
];

/** Each view of an empty account in German, and the text that it shows. */
const germanViews: [string, string][] = [
  ["", "Einrichtung abschließen"],
  ["/links", "Links brauchen einen Handle und eine Standard-Wallet"],
  ["/keys", "Hier erscheinen Ihre API-Schlüssel."],
  ["/webhooks", "Hier erscheinen Ihre Webhook-Endpunkte."],
  ["/account/profile", "Vorschau"],
  ["/account/wallets", "Hier erscheinen Ihre Wallets."],
  ["/account/sign-in", "Keine verbundenen Konten"],
  ["/account/sessions", "Aktive Sitzungen"],
  ["/account/notifications", "Diese Installation versendet keine E-Mails."],
  ["/account/log", "Anmeldelink erstellt"],
  ["/command", "Geben Sie den Code ein"],
  ["/developers", "Eine Signatur prüfen"],
  ["/deposits", "Hier erscheinen Überweisungen ohne Link."],
];

describe("sign-in by a link", () => {
  test("takes one click and leaves no token in the browser", async () => {
    const { context, openTab } = await system.createUser();
    const tab = await openTab();
    const url = await system.createSignInUrl("ada");
    const token = url.split("token=")[1] ?? "none";
    await tab.goTo(url, "This link signs you in as ada (@ada).");
    expect(tab.page.url()).toBe(`${system.origin}/console`);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.click("Sign in as ada", "Add a passkey");
    await tab.click("Not now", "Signed in as ada");
    const storedText = await tab.page.evaluate("JSON.stringify([localStorage, sessionStorage])");
    expect(`${String(storedText)}${JSON.stringify(await context.storageState())}`).not.toContain(
      token,
    );
    await tab.page.goBack();
    expect(tab.page.url()).not.toContain(token);
  });
});

describe("every view, in light and dark", () => {
  test.each(sampleCases([320, 390], (width) => width === 320))(
    "is accessible, sends no request to other hosts, and fits into %i px",
    async (width) => {
      const viewport = { width, height: 640 };
      const { goTo, tab } = await system.signUp(`zoe_${width}`, { colorScheme: "light", viewport });
      for (const [path, expectedText] of views) {
        await goTo(path, expectedText);
        expect([path, await findLayoutFaults(tab.page)]).toEqual([path, []]);
        await tab.page.emulateMedia({ colorScheme: "dark" });
        expect([path, await findAxeViolations(tab.page, ["color-contrast"])]).toEqual([path, []]);
        await tab.page.emulateMedia({ colorScheme: "light" });
      }
    },
  );
});

describe("the console in German", () => {
  test("is shown to a user whose browser prefers German, is accessible, and fits into 320 px", async () => {
    const viewport = { width: 320, height: 640 };
    const { addDefaultWallet, call, context, goTo, tab } = await system.signUp("greta", {
      locale: "de-DE",
      viewport,
    });
    const expectViews = async (views: readonly [string, string][]): Promise<void> => {
      for (const [path, expectedText] of views) {
        await goTo(path, expectedText);
        expect(await tab.page.locator("html").getAttribute("lang")).toBe("de");
        expect([path, await findLayoutFaults(tab.page)]).toEqual([path, []]);
      }
    };
    if (isSoakRun) await expectViews(germanViews);
    await addDefaultWallet();
    // Services can use cached account data for this long.
    system.clock.advance(60_000);
    const link = await call("post", "payment-links", { toAmount: "12345.67" });
    const scopes = ["payment_link:create", "payment_link:read"];
    await call("post", "api-keys", { name: "Laden", scopes });
    const newEndpoint = { url: "https://shop.com/hook", name: "Laden" };
    const endpoint = await call("post", "webhook-endpoints", newEndpoint);
    // These views are almost empty without data.
    await expectViews([
      ["", "Noch keine Zahlungen"],
      ["/links", "12.345,67 USDC"],
      ["/links/new", "Genau diesen Betrag in USDC zahlt der Kunde."],
      [`/links/${link.id}`, "0,00 von 12.345,67 USDC"],
      ["/keys", "Links erstellen, Links lesen und Webhooks empfangen"],
      ["/webhooks", "Aktiviert"],
      [`/webhooks/${endpoint.id}`, "Hier erscheinen Zustellungen."],
      ["/account/wallets", "Standard auf Base"],
    ]);
    await goTo("/webhooks");
    await tab.click("Endpunkt hinzufügen");
    await tab.page.getByLabel("Name").fill("Laden");
    await tab.page.getByLabel("URL", { exact: true }).fill("http://laden.test/");
    await tab.clickInDialog("Endpunkt hinzufügen");
    await tab.waitForText("Die URL muss mit https:// beginnen.");
    const errors = [
      { code: "enum", message: "The value is not one of the allowed values." },
      { code: "OF_TOMORROW", message: "Supplied by the service." },
    ];
    await context.route("**/console/api/webhook-endpoints", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({ status: 422, json: { errors } })
        : route.continue(),
    );
    await tab.clickInDialog("Endpunkt hinzufügen");
    await tab.waitForText("Wählen Sie eine der verfügbaren Optionen. Supplied by the service.");
  });
});
