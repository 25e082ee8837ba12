import { expect } from "@jest/globals";
import { getAddress } from "viem";
import { countSecretOccurrences } from "./find-secret.ts";
import type { Console, ConsoleUser } from "./use-console.ts";

/** An address of nobody's. */
export const payoutAddress = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");

/** What the console API answers this person. */
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

/** The secret that a dialog shows: in the page alone, and there once. */
export const readSecret = async (user: ConsoleUser): Promise<string> => {
  const secret = await user.tab.page.getByRole("dialog").locator("code").innerText();
  expect(await countSecretOccurrences(user, secret)).toEqual({ page: 1 });
  return secret;
};

/** Nothing that this browser or a service keeps has it any more. */
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
