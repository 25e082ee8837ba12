import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { loadCatalogue } from "@payment-links/contracts";
import { systemClock } from "@payment-links/runtime";
import type { Dependencies } from "../dependencies.ts";
import { apiKeysMax } from "../domain/api-key.ts";
import { confirmationsPerAccountMax } from "../domain/email.ts";
import { createPublicRoutes } from "../routes.ts";
import { type Rig, createRig, summarizeResponse } from "../testing/create-rig.ts";
import { createWallet, prepareSiwe } from "../testing/siwe.ts";

/*
 * A rejected request must not close a pooled connection. Otherwise an attacker could make Postgres
 * start a new process for each request, and every other request would wait.
 */

const apiPrefix = "/console/api";
const sessionsMax = 5;

const wallet = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};
const noBody = () => undefined;
const keyBody = { name: "one of many", scopes: ["payment_link:read"] };

/** The service is not started, so nothing is sent. */
const email = {
  server: { host: "127.0.0.1", port: 25, isSecure: false, requiresTls: false, auth: undefined },
  from: { name: "", address: "shop@example.com" },
};

let rig: Rig;
let cookie: string;
let usedSiwe: object;

beforeAll(async () => {
  rig = await createRig({ email });
  await rig.createAccount({ handle: "taken" });
  ({ cookie } = await rig.signUp({ handle: "refused" }));
  await rig.call("POST", `${apiPrefix}/wallets`, { cookie, body: wallet });
  for (let count = 0; count < apiKeysMax; count += 1) {
    await rig.call("POST", `${apiPrefix}/api-keys`, { cookie, body: keyBody });
  }
  for (let count = 1; count <= confirmationsPerAccountMax; count += 1) {
    const body = { address: `owner-${count}@example.com` };
    await rig.call("POST", `${apiPrefix}/account/notifications/address`, { cookie, body });
  }
  const { browserCookie, siwe } = await prepareSiwe(rig, createWallet(), cookie);
  cookie = `${cookie}; ${browserCookie}`;
  await rig.call("POST", `${apiPrefix}/identities`, { cookie, body: { siwe } });
  usedSiwe = siwe;
});
afterAll(() => rig.close());

/** Requests that the routes reject for a signed-in user. */
const rejectedCalls: readonly [call: string, answer: string, body: () => unknown][] = [
  ["GET /audit-log?offset=x", "422 int_parsing", noBody],
  ["PATCH /account", "409 HANDLE_TAKEN", () => ({ handle: "taken" })],
  ["POST /account/picture", "422 INVALID_IMAGE", () => ({})],
  ["PATCH /account/notifications", "422 bool_type", () => ({ new_wallet: "no" })],
  ["POST /account/notifications/address", "429 429", () => ({ address: "more@example.com" })],
  [
    "POST /account/notifications/address/confirm",
    "422 INVALID_CONFIRMATION_TOKEN",
    () => ({ token: "A".repeat(43) }),
  ],
  // These two are never rejected, but a repeat does not change anything.
  ["DELETE /account/notifications/address", "200", noBody],
  ["DELETE /sessions", "204", noBody],
  ["POST /wallets", "409 WALLET_EXISTS", () => wallet],
  ["PATCH /wallets/none", "404 NOT_FOUND", () => ({ isDefault: true })],
  ["DELETE /wallets/none", "404 NOT_FOUND", noBody],
  ["POST /api-keys", "409 API_KEY_LIMIT", () => keyBody],
  ["PATCH /api-keys/none", "404 NOT_FOUND", () => ({ active: true })],
  ["DELETE /api-keys/none", "404 NOT_FOUND", noBody],
  ["POST /api-keys/none/rotate", "404 NOT_FOUND", () => ({})],
  ["DELETE /sessions/none", "404 NOT_FOUND", noBody],
  ["POST /session/presence", "401 INVALID_SIGN_IN_TOKEN", () => ({ token: "A".repeat(43) })],
  ["POST /passkeys", "404 SIGN_IN_METHOD_UNAVAILABLE", () => ({})],
  ["PATCH /passkeys/none", "404 NOT_FOUND", () => ({ name: "mine" })],
  ["DELETE /passkeys/none", "404 NOT_FOUND", noBody],
  ["POST /identities", "401 INVALID_SIWE_MESSAGE", () => ({ siwe: usedSiwe })],
  ["DELETE /identities/none", "404 NOT_FOUND", noBody],
];

describe("200 rejected requests", () => {
  test("with wrong sign-in tokens open no new connection in the pool", async () => {
    const newSessionCount = await rig.countNewSessions(async () => {
      const body = { token: "A".repeat(43) };
      const response = await rig.call("POST", `${apiPrefix}/session`, { body });
      expect(summarizeResponse(response)).toBe("401 INVALID_SIGN_IN_TOKEN");
    });
    expect(newSessionCount).toBeLessThan(sessionsMax);
  });

  test("with unknown unsubscribe tokens open no new connection in the pool", async () => {
    const newSessionCount = await rig.countNewSessions(async () => {
      const { status } = await rig.call("POST", `${apiPrefix}/unsubscribe/${"A".repeat(43)}`);
      expect(status).toBe(404);
    });
    expect(newSessionCount).toBeLessThan(sessionsMax);
  });

  test.each(rejectedCalls)(
    "to %s open no new connection in the pool",
    async (requestLine, expectedError, body) => {
      const [method = "", path = ""] = requestLine.split(" ");
      const newSessionCount = await rig.countNewSessions(async () => {
        const callOptions = { cookie, body: body() };
        expect(summarizeResponse(await rig.call(method, `${apiPrefix}${path}`, callOptions))).toBe(
          expectedError,
        );
      });
      expect(newSessionCount).toBeLessThan(sessionsMax);
    },
  );

  test("are tested for every route that changes something", () => {
    // Building the route table does not call any dependency, so these two are enough.
    const routes = createPublicRoutes({
      catalogue: loadCatalogue(),
      clock: systemClock,
    } as Dependencies);
    // The limit of a command's codes rejects most of 200 requests before they use the pool.
    const changingRoutes = routes.filter(
      ({ caller, method, path, routeLimit }) =>
        caller.by === "session" &&
        method !== "get" &&
        path !== `${apiPrefix}/session` &&
        routeLimit?.policy !== "command-codes",
    );
    const testedLines = new Set(rejectedCalls.map(([requestLine]) => requestLine.split("?")[0]));
    for (const { method, path } of changingRoutes) {
      const requestLine = `${method.toUpperCase()} ${path.replace(apiPrefix, "").replace(":id", "none")}`;
      expect(testedLines).toContain(requestLine);
    }
  });
});
