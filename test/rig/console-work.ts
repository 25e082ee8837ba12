import { expect } from "@jest/globals";
import { getAddress } from "viem";
import { findSecret } from "./find-secret.ts";
import type { Console, ConsolePerson as Person } from "./use-console.ts";

/** An address of nobody's. */
export const address = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");

/** What the console API answers this person. */
export const askConsole = async (
  system: Console,
  { context }: Person,
  path: string,
): Promise<{ data: object[] }> =>
  (await context.request.get(`${system.origin}/console/api/${path}`)).json();

export const addWallet = async ({ goTo, tab }: Person): Promise<void> => {
  await goTo("/account/wallets");
  await tab.page.getByLabel("Token").selectOption({ label: "USDC · Base" });
  await tab.page.getByLabel("Address").fill(address);
  await tab.click("Add wallet");
  await tab.see(address);
};

export const openForm = async (person: Person, amount: string): Promise<void> => {
  await person.goTo("/links/new");
  await person.tab.page.getByLabel("Amount").fill(amount);
};

/** The secret that a dialog shows: in the page alone, and there once. */
export const readSecret = async (person: Person): Promise<string> => {
  const secret = await person.tab.page.getByRole("dialog").locator("code").innerText();
  expect(await findSecret(person, secret)).toEqual({ page: 1 });
  return secret;
};

/** Nothing that this browser or a service keeps has it any more. */
export const expectForgotten = async (
  system: Console,
  person: Person,
  secret: string,
): Promise<void> => {
  expect(await findSecret(person, secret)).toEqual({});
  const logs = system.logLines();
  expect(logs.length).toBeGreaterThan(0);
  expect(logs.filter((line) => line.includes(secret))).toEqual([]);
};
