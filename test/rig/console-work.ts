import { expect } from "@jest/globals";
import { getAddress } from "viem";
import { countSecretOccurrences } from "./find-secret.ts";
import type { Console, ConsoleUser } from "./use-console.ts";

/** An address without an owner. */
export const payoutAddress = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");

/** Returns the console API's response to this user. */
export const fetchConsole = async (
  system: Console,
  { context }: ConsoleUser,
  path: string,
): Promise<{ data: object[] }> =>
  (await context.request.get(`${system.origin}/console/api/${path}`)).json();

export const addWallet = async ({ goTo, tab }: ConsoleUser): Promise<void> => {
  await goTo("/account/wallets");
  await tab.page.getByLabel("Token").selectOption({ label: "USDC · Base" });
  await tab.page.getByLabel("Address").fill(payoutAddress);
  await tab.click("Add wallet");
  await tab.waitForText(payoutAddress);
};

export const openLinkForm = async (user: ConsoleUser, amount: string): Promise<void> => {
  await user.goTo("/links/new");
  await user.tab.page.getByLabel("Amount").fill(amount);
};

/**
 * Returns the secret that a dialog shows. Expects it exactly once in the page and nowhere else in
 * the browser.
 */
export const readSecret = async (user: ConsoleUser): Promise<string> => {
  const secret = await user.tab.page.getByRole("dialog").locator("code").innerText();
  expect(await countSecretOccurrences(user, secret)).toEqual({ page: 1 });
  return secret;
};

/** Expects that neither this browser nor a service has stored the secret. */
export const expectSecretGone = async (
  system: Console,
  user: ConsoleUser,
  secret: string,
): Promise<void> => {
  expect(await countSecretOccurrences(user, secret)).toEqual({});
  const logs = system.logLines();
  expect(logs.length).toBeGreaterThan(0);
  expect(logs.filter((line) => line.includes(secret))).toEqual([]);
};
