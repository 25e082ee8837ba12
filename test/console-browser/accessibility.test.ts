import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  filledViews,
  expectReadableAtDoubleSize,
  signUpShop,
  expectKeyboardReach,
  expectNoMotion,
} from "../rig/console-accessibility.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";

const { describe, test } = requireChromium();

const system = useConsole();

// The views with the most elements and text. The soak test covers all views.
const sampledViews = filledViews.filter(([path]) =>
  ["/links/new", "/keys", "/webhooks"].includes(path),
);

describe("a user without a mouse", () => {
  test("reaches everything in each view in order, with a visible focus", () =>
    expectKeyboardReach(system, "ruth", sampledViews));
});

describe("a user with low vision", () => {
  test("can read each whole view at twice the text size", () =>
    expectReadableAtDoubleSize(system, "rita", sampledViews));
});

describe("a user who prefers reduced motion", () => {
  test("sees no animation", () => expectNoMotion(system, "rona", sampledViews));
});

describe("a user without a mouse", () => {
  test("can skip the navigation with the first Tab", async () => {
    const { goTo, tab } = await system.signUp("bea");
    await goTo("/keys");
    await tab.waitForText("Your API keys will appear here.");
    await tab.page.evaluate("document.activeElement?.blur()");
    await tab.page.keyboard.press("Tab");
    await tab.page.keyboard.press("Enter");
    await tab.page.keyboard.press("Tab");
    expect(await tab.page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  });

  test("stays in an open dialog, closes it with Escape, and returns to the previous element", async () => {
    const { goTo, tab } = await signUpShop(system, "cleo");
    await goTo("/webhooks");
    await tab.page.getByRole("link", { name: "till" }).click();
    const renameButton = tab.page.getByRole("button", { name: "Rename" });
    await renameButton.focus();
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("dialog").waitFor();
    expect(await walkByKeyboard(tab.page)).toEqual([]);
    await tab.page.keyboard.press("Escape");
    await tab.page.getByRole("dialog").waitFor({ state: "detached" });
    const isFocusRestored = () => renameButton.evaluate((element) => element.matches(":focus"));
    await waitUntil("the focus is restored", isFocusRestored);
  });
});
