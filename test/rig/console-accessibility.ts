import { expect } from "@jest/globals";
import { doubleText, findClippedText, findMotion, walkByKeyboard } from "./walk-by-keyboard.ts";
import type { Console, ConsoleUser } from "./use-console.ts";

type View = [path: string, shown: string];

/** An address without an owner. */
const payoutAddress = "0xa0cf798816d4b9b9866b5330eea46a18382f251e";

/**
 * Each console view, with the text that it shows when it has loaded. The account has data in every
 * view.
 */
export const filledViews: View[] = [
  ["", "Received in the last 30 days"],
  ["/links", "Order 7"],
  ["/links/new", "Create link"],
  ["/keys", "till key"],
  ["/webhooks", "Verify signatures"],
  ["/account/profile", "Preview"],
  ["/account/wallets", "Default on Base"],
  ["/account/sign-in", "Passkeys"],
  ["/account/sessions", "Active sessions"],
  ["/account/log", "Sign-in link created"],
];

const post = async (
  system: Console,
  { context }: ConsoleUser,
  path: string,
  data: object,
): Promise<void> => {
  const headers = { origin: system.origin };
  const response = await context.request.post(`${system.origin}/console/api/${path}`, {
    data,
    headers,
  });
  expect([path, response.ok()]).toEqual([path, true]);
};

/** Signs up an account with a wallet, a link, an API key and a webhook endpoint. */
export const signUpShop = async (
  system: Console,
  handle: string,
  ...options: Parameters<Console["signUp"]>[1][]
): Promise<ConsoleUser> => {
  const user = await system.signUp(handle, ...options);
  const wallet = { walletAddress: payoutAddress, tokenId: "usdc-base", isDefault: true };
  await post(system, user, "wallets", wallet);
  await post(system, user, "payment-links", { toAmount: "1234567.25", description: "Order 7" });
  await post(system, user, "api-keys", { name: "till key", scopes: ["payment_link:read"] });
  await post(system, user, "webhook-endpoints", { name: "till", url: "https://shop.com/hook" });
  return user;
};

/** Expects that a user can reach every control of each view with the Tab key alone. */
export const expectKeyboardReach = async (
  system: Console,
  handle: string,
  views: readonly View[],
): Promise<void> => {
  const { violations, goTo, tab } = await signUpShop(system, handle);
  for (const [path, expectedText] of views) {
    await goTo(path);
    await tab.waitForText(expectedText);
    expect([path, await walkByKeyboard(tab.page)]).toEqual([path, []]);
  }
  expect(violations).toEqual([]);
};

/** Expects each view to be readable at twice the text size. */
export const expectReadableAtDoubleSize = async (
  system: Console,
  handle: string,
  views: readonly View[],
): Promise<void> => {
  const { goTo, tab } = await signUpShop(system, handle, { viewport: { width: 640, height: 800 } });
  await doubleText(tab.page);
  for (const [path, expectedText] of views) {
    await goTo(path);
    await tab.waitForText(expectedText);
    expect([path, await tab.page.evaluate("matchMedia('(max-width: 20rem)').matches")]).toEqual([
      path,
      true,
    ]);
    expect([path, await findClippedText(tab.page)]).toEqual([path, []]);
  }
};

/** Expects that no view contains motion. */
export const expectNoMotion = async (
  system: Console,
  handle: string,
  views: readonly View[],
): Promise<void> => {
  const { goTo, tab } = await signUpShop(system, handle, { reducedMotion: "reduce" });
  for (const [path, expectedText] of views) {
    await goTo(path);
    await tab.waitForText(expectedText);
    expect([path, await findMotion(tab.page)]).toEqual([path, []]);
  }
};
