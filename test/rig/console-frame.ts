import { presenceMsMax } from "@payment-links/identity";
import type { Console, ConsoleUser } from "./use-console.ts";

/** A stubbed JSON response of the service. */
export const createJsonResponse = (status: number, body: object, headers = {}) => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
export const createErrorResponse = (status: number, code: string, headers = {}) =>
  createJsonResponse(
    status,
    { errors: [{ code, message: `the service reports ${code}` }] },
    headers,
  );

/** Signs up a user. Creating an API key fails, because the user's proof of presence is too old. */
export const signUpWithStalePresence = async (
  system: Console,
  handle: string,
): Promise<ConsoleUser> => {
  const user = await system.signUp(handle);
  await user.goTo("/keys");
  system.clock.advance(presenceMsMax);
  await user.tab.type("Create API key", "shop");
  await user.tab.click("Create API key");
  await user.tab.waitForText("Confirm it's you");
  return user;
};
