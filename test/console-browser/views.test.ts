import { expect } from "@jest/globals";
import { measureOverflow } from "../rig/create-console.ts";
import { expectGermanViews } from "../rig/console-german-views.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

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
  ["/account/sign-in", "None"],
  ["/account/sessions", "Active sessions"],
  ["/account/log", "Sign-in link created"],
  ["/nowhere", "Page not found"],
];

describe("sign-in by a link", () => {
  test("takes one click and leaves no token in the browser", async () => {
    const { context, openTab, violations } = await system.createUser();
    const tab = await openTab();
    const url = await system.createSignInUrl("ada");
    const token = url.split("token=")[1] ?? "none";
    await tab.goTo(url);
    await tab.waitForText("This link signs you in as ada (@ada).");
    expect(tab.page.url()).toBe(`${system.origin}/console`);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.click("Sign in as ada");
    await tab.waitForText("Signed in as ada");
    const storedText = await tab.page.evaluate("JSON.stringify([localStorage, sessionStorage])");
    expect(`${String(storedText)}${JSON.stringify(await context.storageState())}`).not.toContain(
      token,
    );
    await tab.page.goBack();
    expect(tab.page.url()).not.toContain(token);
    expect(violations).toEqual([]);
  });
});

describe("every view, in light and dark", () => {
  test("is accessible, sends no request to other hosts, and fits into 320 px", async () => {
    const viewport = { width: 320, height: 640 };
    const { violations, goTo, tab } = await system.signUp("zoe", {
      colorScheme: "light",
      viewport,
    });
    for (const [path, expectedText] of views) {
      await goTo(path);
      await tab.waitForText(expectedText);
      expect([path, await findAxeViolations(tab.page)]).toEqual([path, []]);
      expect([path, await measureOverflow(tab)]).toEqual([path, 0]);
      await tab.page.emulateMedia({ colorScheme: "dark" });
      expect([path, await findAxeViolations(tab.page, ["color-contrast"])]).toEqual([path, []]);
      await tab.page.emulateMedia({ colorScheme: "light" });
    }
    expect(violations).toEqual([]);
  });
});

describe("the console in German", () => {
  test("is shown to a user whose browser prefers German, and fits into 320 px", async () => {
    const { context, violations, goTo, tab } = await expectGermanViews(system, "greta");
    await goTo("/webhooks");
    await tab.page.getByLabel("Name").fill("Laden");
    await tab.page.getByLabel("URL").fill("http://laden.test/");
    await tab.click("Endpunkt erstellen");
    await tab.waitForText("Die URL muss eine öffentliche https-Adresse ohne Port sein.");
    const errors = [
      { code: "enum", message: "The value is not one of the allowed values." },
      { code: "OF_TOMORROW", message: "Supplied by the service." },
    ];
    await context.route("**/console/api/webhook-endpoints", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({ status: 422, json: { errors } })
        : route.continue(),
    );
    await tab.click("Endpunkt erstellen");
    await tab.waitForText("Wählen Sie eine der verfügbaren Optionen. Supplied by the service.");
    expect(violations).toEqual([]);
  });
});
