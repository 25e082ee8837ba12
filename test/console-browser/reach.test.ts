import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  filledViews,
  readLargeViews,
  signUpShop,
  walkViews,
  watchStillViews,
} from "../rig/console-reach.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";

const { describe, test } = needingChromium();

const system = useConsole();

// With the most to reach and to read; all views are in the soak test.
const someViews = filledViews.filter(([path]) =>
  ["/links/new", "/keys", "/webhooks"].includes(path),
);

describe("a person without a mouse", () => {
  test("reaches everything of each view in its order, and sees where they are", () =>
    walkViews(system, "ruth", someViews));
});

describe("a person who sees little", () => {
  test("reads all of each view at twice the size of its text", () =>
    readLargeViews(system, "rita", someViews));
});

describe("a person who wants less motion", () => {
  test("sees nothing move", () => watchStillViews(system, "rona", someViews));
});

describe("a person without a mouse", () => {
  test("passes over the navigation at the first Tab", async () => {
    const { goTo, tab } = await system.signUp("bea");
    await goTo("/keys");
    await tab.see("No keys yet.");
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
    const rename = tab.page.getByRole("button", { name: "Rename" });
    await rename.focus();
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("dialog").waitFor();
    expect(await walkByKeyboard(tab.page)).toEqual([]);
    await tab.page.keyboard.press("Escape");
    await tab.page.getByRole("dialog").waitFor({ state: "detached" });
    const isBack = () => rename.evaluate((one) => one.matches(":focus"));
    await waitUntil("the focus where it was", isBack);
  });
});
