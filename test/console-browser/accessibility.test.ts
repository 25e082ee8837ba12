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

// With the most to reach and to read; all views are in the soak test.
const sampledViews = filledViews.filter(([path]) =>
  ["/links/new", "/keys", "/webhooks"].includes(path),
);

describe("a person without a mouse", () => {
  test("reaches everything of each view in its order, and sees where they are", () =>
    expectKeyboardReach(system, "ruth", sampledViews));
});

describe("a person who sees little", () => {
  test("reads all of each view at twice the size of its text", () =>
    expectReadableAtDoubleSize(system, "rita", sampledViews));
});

describe("a person who wants less motion", () => {
  test("sees nothing move", () => expectNoMotion(system, "rona", sampledViews));
});

describe("a person without a mouse", () => {
  test("passes over the navigation at the first Tab", async () => {
    const { goTo, tab } = await system.signUp("bea");
    await goTo("/keys");
    await tab.waitForText("No keys yet.");
    await tab.page.evaluate("document.activeElement?.blur()");
    await tab.page.keyboard.press("Tab");
    await tab.page.keyboard.press("Enter");
    await tab.page.keyboard.press("Tab");
    expect(await tab.page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  });

  test("stays in a dialog while it is open, leaves it by Escape, and is back where they were", async () => {
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
    await waitUntil("the focus where it was", isFocusRestored);
  });
});
