import { afterAll, beforeAll, expect } from "@jest/globals";
import { findOverhang, openConsole } from "./console-browser/open-console.ts";
import { findAxeFaults } from "./rig/find-axe-faults.ts";
import { needingChromium } from "./rig/find-chromium.ts";

const { program, describe, test } = await needingChromium();

let system: Awaited<ReturnType<typeof openConsole>>;
beforeAll(async () => {
  if (program !== undefined) system = await openConsole(program);
});
afterAll(() => system?.close());

/** Each view, and what it shows once it has read what it needs. */
const views: [string, string][] = [
  ["", "Set up"],
  ["/links", "Set a handle and add a default wallet first"],
  ["/links/new", "Set a handle and add a default wallet first"],
  ["/keys", "No keys yet."],
  ["/webhooks", "No endpoints yet."],
  ["/account/profile", "What a payer sees"],
  ["/account/wallets", "No wallets yet."],
  ["/account/sign-in", "None yet."],
  ["/account/sessions", "Where you are signed in"],
  ["/account/log", "session.started"],
  ["/nowhere", "Nothing is here"],
];

describe("the way into the console", () => {
  test("by a sign-in link is a click, and its token is nowhere in the browser by then", async () => {
    const { context, openTab, faults } = await system.openPerson();
    const tab = await openTab();
    const url = await system.makeSignInUrl("ada");
    const token = url.split("token=")[1] ?? "none";
    await tab.goTo(url);
    await tab.see("This link signs you in as ada (@ada).");
    expect(tab.page.url()).toBe(`${system.origin}/console`);
    expect(await findAxeFaults(tab.page)).toEqual([]);
    await tab.click("Sign in as ada");
    await tab.see("Signed in as ada");
    const kept = await tab.page.evaluate("JSON.stringify([localStorage, sessionStorage])");
    expect(`${String(kept)}${JSON.stringify(await context.storageState())}`).not.toContain(token);
    await tab.page.goBack();
    expect(tab.page.url()).not.toContain(token);
    expect(faults).toEqual([]);
  });
});

describe("every view, in light and dark", () => {
  test("has nothing that keeps anybody out, asks nobody else, and fits into 320 px", async () => {
    const viewport = { width: 320, height: 640 };
    const { faults, goTo, tab } = await system.signUp("zoe", { colorScheme: "light", viewport });
    for (const [path, shown] of views) {
      await goTo(path);
      await tab.see(shown);
      expect([path, await findAxeFaults(tab.page)]).toEqual([path, []]);
      expect([path, await findOverhang(tab)]).toEqual([path, 0]);
      await tab.page.emulateMedia({ colorScheme: "dark" });
      expect([path, await findAxeFaults(tab.page, ["color-contrast"])]).toEqual([path, []]);
      await tab.page.emulateMedia({ colorScheme: "light" });
    }
    expect(faults).toEqual([]);
  });
});
