import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";
import {
  doubleText,
  findClippedText,
  findMotion,
  walkByKeyboard,
} from "../rig/walk-by-keyboard.ts";

const { describe, test } = requireChromium();

const system = useConsole();

/**
 * The console views, each with the text that it shows when it has loaded. The account has data in
 * every view.
 */
const allViews: [path: string, expectedText: string][] = [
  ["", "Received in the last 30 days"],
  ["/links", "Order 7"],
  ["/links/new", "Create link"],
  ["/keys", "till key"],
  ["/webhooks", "Verify signatures"],
  ["/developers", "Check a signature"],
  ["/account/profile", "Preview"],
  ["/account/wallets", "Default on Base"],
  ["/account/sign-in", "Passkeys"],
  ["/account/sessions", "Active sessions"],
  ["/account/notifications", "This installation does not send email."],
  ["/account/log", "Sign-in link created"],
];

/** `npm test` opens the views with the most elements and text. */
const views = sampleCases(allViews, ([path]) =>
  ["/links/new", "/keys", "/webhooks", "/developers"].includes(path),
);

/** Signs up an account with a wallet, a link, an API key and a webhook endpoint. */
const signUpShop = async (...options: Parameters<typeof system.signUp>) => {
  const user = await system.signUp(...options);
  await user.addDefaultWallet();
  const newLink = { toAmount: "1234567.25", description: "Order 7" };
  const { id: linkId } = await user.call("post", "payment-links", newLink);
  await user.call("post", "api-keys", { name: "till key", scopes: ["payment_link:read"] });
  const newEndpoint = { name: "till", url: "https://shop.com/hook" };
  const { id: endpointId } = await user.call("post", "webhook-endpoints", newEndpoint);
  return { ...user, linkId, endpointId };
};

describe("a user with a phone", () => {
  test("can use each view in light and dark, without horizontal scrolling", async () => {
    const { endpointId, goTo, linkId, tab } = await signUpShop("rhea", {
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
      reducedMotion: "reduce",
    });
    const detailViews: typeof allViews = [
      [`/links/${linkId}`, "Share"],
      [`/webhooks/${endpointId}`, "Deliveries will appear here."],
    ];
    for (const [path, expectedText] of [...allViews, ...detailViews]) {
      await goTo(path, expectedText);
      for (const colorScheme of ["light", "dark"] as const) {
        await tab.page.emulateMedia({ colorScheme });
        const faults = await findLayoutFaults(tab.page);
        expect([path, colorScheme, faults]).toEqual([path, colorScheme, []]);
      }
    }
  });
});

describe("a user with low vision", () => {
  test("can read each whole view at twice the text size", async () => {
    const { goTo, tab } = await signUpShop("rita", { viewport: { width: 640, height: 800 } });
    await doubleText(tab.page);
    for (const [path, expectedText] of views) {
      await goTo(path, expectedText);
      const isNarrow = await tab.page.evaluate("matchMedia('(max-width: 20rem)').matches");
      expect([path, isNarrow, await findClippedText(tab.page)]).toEqual([path, true, []]);
    }
  });
});

describe("a user who prefers reduced motion", () => {
  test("sees no animation", async () => {
    const { goTo, tab } = await signUpShop("rona", { reducedMotion: "reduce" });
    for (const [path, expectedText] of views) {
      await goTo(path, expectedText);
      expect([path, await findMotion(tab.page)]).toEqual([path, []]);
    }
  });
});

describe("a user without a mouse", () => {
  test("reaches everything in each view in order, with a visible focus", async () => {
    const { goTo, tab } = await signUpShop("ruth");
    for (const [path, expectedText] of views) {
      await goTo(path, expectedText);
      expect([path, await walkByKeyboard(tab.page)]).toEqual([path, []]);
    }
  });

  test("can skip the navigation with the first Tab", async () => {
    const { goTo, tab } = await system.signUp("bea");
    await goTo("/keys", "Your API keys will appear here.");
    await tab.page.evaluate("document.activeElement?.blur()");
    await tab.page.keyboard.press("Tab");
    await tab.page.keyboard.press("Enter");
    await tab.page.keyboard.press("Tab");
    expect(await tab.page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  });

  test("stays in an open dialog, closes it with Escape, and returns to the previous element", async () => {
    const { goTo, tab } = await signUpShop("cleo");
    await goTo("/webhooks");
    await tab.page.getByRole("link", { name: "till" }).click();
    await tab.waitForText("Deliveries will appear here.");
    const menuButton = tab.page.getByRole("button", { name: "Actions: till" });
    await menuButton.focus();
    await tab.page.keyboard.press("Enter");
    // Before it has the focus, the key would close the menu.
    const entry = tab.page.getByRole("menuitem", { name: "Rename" });
    const isEntryFocused = () => entry.evaluate((element) => element.matches(":focus"));
    await waitUntil("the first entry has the focus", isEntryFocused);
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("dialog").waitFor();
    expect(await walkByKeyboard(tab.page)).toEqual([]);
    await tab.page.keyboard.press("Escape");
    await tab.page.getByRole("dialog").waitFor({ state: "detached" });
    const isFocusRestored = () => menuButton.evaluate((element) => element.matches(":focus"));
    await waitUntil("the focus is restored", isFocusRestored);
  });
});
