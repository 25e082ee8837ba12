import { presenceMsMax } from "@payment-links/identity";
import type { Console, ConsolePerson } from "./use-console.ts";

/** An answer of the service, in its place. */
export const json = (status: number, body: object, headers = {}) => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
export const refused = (status: number, code: string, headers = {}) =>
  json(status, { errors: [{ code, message: `told: ${code}` }] }, headers);

/** Somebody whose key is not made, as their proof of presence is too old. */
export const openStale = async (system: Console, handle: string): Promise<ConsolePerson> => {
  const person = await system.signUp(handle);
  await person.goTo("/keys");
  system.clock.advance(presenceMsMax);
  await person.tab.type("Create API key", "shop");
  await person.tab.click("Create API key");
  await person.tab.see("Is it still you?");
  return person;
};
