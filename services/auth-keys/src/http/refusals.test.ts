import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openCatalogue } from "@payment-links/contracts";
import { systemClock } from "@payment-links/runtime";
import type { Deps } from "../deps.ts";
import { apiKeysMax } from "../domain/api-key.ts";
import { publicRoutes } from "../routes.ts";
import { type Rig, openRig, refusalOf } from "../testing/open-rig.ts";
import { makeWallet, prepareSiwe } from "../testing/siwe.ts";

/*
 * A refusal is not a failure: what a stranger is refused must not cost the pool a connection, as each
 * new one costs Postgres a process and everybody else a wait.
 */

const api = "/console/api";
const sessionsMax = 5;

const wallet = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};
const none = () => undefined;
const newKey = { name: "one of many", scopes: ["payment_link:read"] };

let rig: Rig;
let cookie: string;
let spentSiwe: object;

beforeAll(async () => {
  rig = await openRig();
  await rig.makeAccount({ handle: "taken" });
  ({ cookie } = await rig.signUp({ handle: "refused" }));
  await rig.call("POST", `${api}/wallets`, { cookie, body: wallet });
  for (let made = 0; made < apiKeysMax; made += 1) {
    await rig.call("POST", `${api}/api-keys`, { cookie, body: newKey });
  }
  const { browser, siwe } = await prepareSiwe(rig, makeWallet(), cookie);
  cookie = `${cookie}; ${browser}`;
  await rig.call("POST", `${api}/identities`, { cookie, body: { siwe } });
  spentSiwe = siwe;
});
afterAll(() => rig.close());

/** What the routes refuse to a person who is signed in. */
const refused: readonly [call: string, answer: string, body: () => unknown][] = [
  ["GET /audit-log?offset=x", "422 int_parsing", none],
  ["PATCH /account", "409 HANDLE_TAKEN", () => ({ handle: "taken" })],
  ["POST /wallets", "409 WALLET_EXISTS", () => wallet],
  ["PATCH /wallets/none", "404 NOT_FOUND", () => ({ isDefault: true })],
  ["DELETE /wallets/none", "404 NOT_FOUND", none],
  ["POST /api-keys", "409 API_KEY_LIMIT", () => newKey],
  ["PATCH /api-keys/none", "404 NOT_FOUND", () => ({ active: true })],
  ["DELETE /api-keys/none", "404 NOT_FOUND", none],
  ["POST /api-keys/none/rotate", "404 NOT_FOUND", () => ({})],
  ["DELETE /sessions/none", "404 NOT_FOUND", none],
  ["POST /session/presence", "401 INVALID_SIGN_IN_TOKEN", () => ({ token: "A".repeat(43) })],
  ["POST /passkeys", "404 SIGN_IN_METHOD_UNAVAILABLE", () => ({})],
  ["PATCH /passkeys/none", "404 NOT_FOUND", () => ({ name: "mine" })],
  ["DELETE /passkeys/none", "404 NOT_FOUND", none],
  ["POST /identities", "401 INVALID_SIWE_MESSAGE", () => ({ siwe: spentSiwe })],
  ["DELETE /identities/none", "404 NOT_FOUND", none],
];

describe("200 refusals", () => {
  test("of wrong sign-in tokens cost the pool no connection", async () => {
    const begun = await rig.countSessionsOf(async () => {
      const body = { token: "A".repeat(43) };
      const answer = await rig.call("POST", `${api}/session`, { body });
      expect(refusalOf(answer)).toBe("401 INVALID_SIGN_IN_TOKEN");
    });
    expect(begun).toBeLessThan(sessionsMax);
  });

  test.each(refused)("of %s cost the pool no connection", async (line, answer, body) => {
    const [method = "", path = ""] = line.split(" ");
    const begun = await rig.countSessionsOf(async () => {
      const given = { cookie, body: body() };
      expect(refusalOf(await rig.call(method, `${api}${path}`, given))).toBe(answer);
    });
    expect(begun).toBeLessThan(sessionsMax);
  });

  test("are tried at every route that changes something", () => {
    // Making the table calls nothing of the service, so these two will do.
    const routes = publicRoutes({ catalogue: openCatalogue(), clock: systemClock } as Deps);
    const changing = routes.filter(
      ({ caller, method, path }) =>
        caller.by === "session" && method !== "get" && path !== `${api}/session`,
    );
    const tried = new Set(refused.map(([line]) => line.split("?")[0]));
    for (const { method, path } of changing) {
      const line = `${method.toUpperCase()} ${path.replace(api, "").replace(":id", "none")}`;
      expect(tried).toContain(line);
    }
  });
});
