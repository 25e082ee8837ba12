import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { doubleText, findCutText, findMotion, walkByKeyboard } from "../rig/walk-by-keyboard.ts";
import { type ConsolePerson as Person, useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

/** An address of nobody's. */
const address = "0xa0cf798816d4b9b9866b5330eea46a18382f251e";

/** Each view of an account that has something of everything, and what it shows once it is there. */
const views: [string, string][] = [
  ["", "Received in the last 30 days"],
  ["/links", "Order 7"],
  ["/links/new", "Create the link"],
  ["/keys", "till key"],
  ["/webhooks", "Check signatures"],
  ["/account/profile", "What a payer sees"],
  ["/account/wallets", "Default on Base"],
  ["/account/sign-in", "Passkeys"],
  ["/account/sessions", "Where you are signed in"],
  ["/account/log", "Sign-in link made"],
];

const post = async ({ context }: Person, path: string, data: object): Promise<void> => {
  const headers = { origin: system.origin };
  const answer = await context.request.post(`${system.origin}/console/api/${path}`, {
    data,
    headers,
  });
  expect([path, answer.ok()]).toEqual([path, true]);
};

/** An account that has a wallet, a link, a key and an endpoint. */
const signUpShop = async (handle: string, ...options: Parameters<typeof system.signUp>[1][]) => {
  const person = await system.signUp(handle, ...options);
  const wallet = { walletAddress: address, tokenId: "usdc-base", isDefault: true };
  await post(person, "wallets", wallet);
  await post(person, "payment-links", { toAmount: "1234567.25", description: "Order 7" });
  await post(person, "api-keys", { name: "till key", scopes: ["payment_link:read"] });
  await post(person, "webhook-endpoints", { name: "till", url: "https://shop.com/hook" });
  return person;
};

describe("a person without a mouse", () => {
  test("reaches everything of each view in its order, and sees where they are", async () => {
    const { faults, goTo, tab } = await signUpShop("adele");
    for (const [path, shown] of views) {
      await goTo(path);
      await tab.see(shown);
      expect([path, await walkByKeyboard(tab.page)]).toEqual([path, []]);
    }
    expect(faults).toEqual([]);
  });

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
    const { goTo, tab } = await signUpShop("cleo");
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

describe("a person who sees little", () => {
  test("reads all of each view at twice the size of its text", async () => {
    const { goTo, tab } = await signUpShop("dot", { viewport: { width: 640, height: 800 } });
    await doubleText(tab.page);
    for (const [path, shown] of views) {
      await goTo(path);
      await tab.see(shown);
      expect([path, await tab.page.evaluate("matchMedia('(max-width: 20rem)').matches")]).toEqual([
        path,
        true,
      ]);
      expect([path, await findCutText(tab.page)]).toEqual([path, []]);
    }
  });
});

describe("a person who wants less motion", () => {
  test("sees nothing move", async () => {
    const { goTo, tab } = await signUpShop("edie", { reducedMotion: "reduce" });
    for (const [path, shown] of views) {
      await goTo(path);
      await tab.see(shown);
      expect([path, await findMotion(tab.page)]).toEqual([path, []]);
    }
  });
});
