import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type Operation,
  type Scope,
  consoleOperations,
  createLinkBody,
  generateApiKey,
  newId,
  loadCatalogue,
  publicLinkOperations,
  testModeOperations,
  scopes,
} from "@payment-links/contracts";
import type { Route } from "@payment-links/http";
import { presenceMsMax } from "@payment-links/identity";
import { type Merchant, call, createMerchant, signInAgain } from "./rig/client.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

/** Who is allowed to call a route: anyone, an API key with a scope, or a signed-in user. */
type CallerRule = "anyone" | "session" | Scope;

/** The values of a path's parameters. */
type PathParameters = Record<string, string>;

type RouteExpectation = {
  caller: CallerRule;
  /** The response to an authorized caller: the status, and the error codes. */
  expectedResponse: string;
  body?: unknown;
  /** The response to the last caller, if the stale session's call has ended its session. */
  ownResponse?: string;
  /** Creates the object that a path refers to, for one test. */
  createParameters?: (owner: Merchant) => PathParameters | Promise<PathParameters>;
  /** Whether only the owner is allowed to see the object. For other users, it does not exist. */
  isOwnerOnly?: boolean;
  /** Whether the user needs a recent proof of presence (rule CALLER-19). */
  needsPresence?: boolean;
  /**
   * The response to a page of another site, if such requests are rejected although the route is
   * public.
   */
  crossSiteResponse?: string;
};

const createResource = async (
  owner: Merchant,
  path: string,
  body: unknown,
): Promise<PathParameters> => {
  const response = await call(`${system.baseUrl}/console/api/${path}`, {
    method: "POST",
    headers: { cookie: owner.cookie },
    body,
  });
  if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
  return { id: String(response.body["id"]) };
};

const readOnlyKeyBody = { name: "shop", scopes: ["payment_link:read"] };
const walletBody = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};
const endpointBody = { url: "https://shop.com/hook", name: "shop" };

const createKey = (owner: Merchant) => createResource(owner, "api-keys", readOnlyKeyBody);
let walletCount = 0;
const createWallet = (owner: Merchant) => {
  const walletAddress = `0x${(0xab_cdef + (walletCount += 1)).toString(16).padStart(40, "0")}`;
  return createResource(owner, "wallets", { ...walletBody, walletAddress });
};
const createEndpoint = (owner: Merchant) =>
  createResource(owner, "webhook-endpoints", endpointBody);
/** These tests have no chain and no deposits, so the deposit does not exist. */
const getMissingDeposit = async (): Promise<PathParameters> => ({
  id: "dep_00000000000000000000000000",
});
const missingRefund = {
  paymentId: "tx_00000000000000000000000000",
  amount: "1",
  destinationAddress: "none",
};
const createLink = async (owner: Merchant) => ({
  handle: owner.handle,
  ...(await createResource(owner, "payment-links", { toAmount: "1" })),
});
const getSession = async (owner: Merchant): Promise<PathParameters> => {
  const response = await call(`${system.baseUrl}/console/api/sessions`, {
    headers: { cookie: owner.cookie },
  });
  const [session] = response.body["data"] as { id: string }[];
  return { id: session?.id ?? "" };
};

const anyoneRule = { caller: "anyone" } as const;
const testModeRule = {
  caller: "payment_link:create",
  expectedResponse: "403 TEST_KEY_REQUIRED",
  createParameters: createLink,
} as const;
const unavailableRule = {
  ...anyoneRule,
  expectedResponse: "404 SIGN_IN_METHOD_UNAVAILABLE",
} as const;
const sessionRule = { caller: "session", expectedResponse: "200" } as const;
const ownedRule = { caller: "session", expectedResponse: "200", isOwnerOnly: true } as const;
const sensitiveRule = { ...sessionRule, needsPresence: true } as const;
const ownedSensitiveRule = { ...ownedRule, needsPresence: true } as const;

/** Every public route of the four services, with who is allowed to call it and the response. */
const unknownCode = {
  expectedResponse: "404 NOT_FOUND",
  createParameters: () => ({ code: "BCDF-GHJK" }),
} as const;

const expectations: Record<string, RouteExpectation> = {
  "POST /v1/payment-link": {
    caller: "payment_link:create",
    expectedResponse: "200",
    body: { toAmount: "1" },
  },
  "GET /v1/payment-link": { caller: "payment_link:read", expectedResponse: "200" },
  "GET /v1/payment-link/:id": {
    ...anyoneRule,
    expectedResponse: "200",
    createParameters: createLink,
  },
  // The key is live, and these calls need a test key (rule MODE-7).
  "POST /v1/test/payment-link/:id/pay": testModeRule,
  "POST /v1/test/payment-link/:id/expire": testModeRule,
  "POST /v1/test/payment-link/:id/deactivate": testModeRule,
  "GET /v1/openapi.json": { ...anyoneRule, expectedResponse: "200" },
  "GET /console/api/openapi.json": { ...anyoneRule, expectedResponse: "200" },

  "POST /console/api/session": {
    ...anyoneRule,
    expectedResponse: "401 INVALID_SIGN_IN_TOKEN",
    body: { token: "nobody's" },
    crossSiteResponse: "403 CROSS_SITE_REQUEST",
  },
  "POST /console/api/session/link": {
    ...anyoneRule,
    expectedResponse: "401 INVALID_SIGN_IN_TOKEN",
    body: { token: "nobody's" },
    crossSiteResponse: "403 CROSS_SITE_REQUEST",
  },
  // A form on a page. Errors are also pages.
  "POST /console/api/session/form": {
    ...anyoneRule,
    expectedResponse: "401",
    crossSiteResponse: "403",
  },
  "GET /console/api/session": sessionRule,
  "DELETE /console/api/session": { ...sessionRule, expectedResponse: "204" },
  "POST /console/api/session/presence": {
    ...sessionRule,
    expectedResponse: "401 INVALID_SIGN_IN_TOKEN",
    body: { token: "nobody's" },
  },
  "GET /console/api/session/methods": { ...anyoneRule, expectedResponse: "200" },
  "GET /console/api/session/nonce": {
    ...anyoneRule,
    expectedResponse: "200",
    crossSiteResponse: "403 CROSS_SITE_REQUEST",
  },
  // The tests use an IP address, and passkeys cannot be created for IP addresses.
  "GET /console/api/session/passkey": {
    ...unavailableRule,
    crossSiteResponse: "403 CROSS_SITE_REQUEST",
  },
  "GET /console/api/passkeys": sessionRule,
  "GET /console/api/passkeys/creation": {
    ...sensitiveRule,
    expectedResponse: "404 SIGN_IN_METHOD_UNAVAILABLE",
  },
  "POST /console/api/passkeys": {
    ...sensitiveRule,
    expectedResponse: "404 SIGN_IN_METHOD_UNAVAILABLE",
  },
  "PATCH /console/api/passkeys/:id": {
    ...sessionRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ id: "pky_00000000000000000000000000" }),
    body: { name: "mine" },
  },
  "DELETE /console/api/passkeys/:id": {
    ...sensitiveRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ id: "pky_00000000000000000000000000" }),
  },
  "GET /console/api/session/oidc": {
    ...unavailableRule,
    crossSiteResponse: "403 CROSS_SITE_REQUEST",
  },
  "GET /console/api/session/oidc/callback": unavailableRule,
  "GET /console/api/sessions": sessionRule,
  "DELETE /console/api/sessions": {
    ...sessionRule,
    expectedResponse: "204",
    ownResponse: "401 UNAUTHENTICATED",
  },
  "DELETE /console/api/sessions/:id": {
    ...ownedRule,
    expectedResponse: "204",
    createParameters: getSession,
  },
  "GET /console/api/identities": sessionRule,
  "POST /console/api/identities": {
    ...sensitiveRule,
    expectedResponse: "401 INVALID_SIWE_MESSAGE",
    body: { siwe: { message: "", signature: "" } },
  },
  "DELETE /console/api/identities/:id": {
    ...sensitiveRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ id: "idn_00000000000000000000000000" }),
  },
  "GET /console/api/account": sessionRule,
  "PATCH /console/api/account": { ...sessionRule, body: { bio: "changed" } },
  "POST /console/api/account/picture": {
    // The body is not JSON. Without one, there is no image.
    ...sessionRule,
    expectedResponse: "422 INVALID_IMAGE",
  },
  "GET /checkout/pictures/:digest": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ digest: "0".repeat(64) }),
  },
  "GET /console/api/tokens": sessionRule,
  "GET /console/api/wallets": sessionRule,
  "POST /console/api/wallets": { ...sensitiveRule, expectedResponse: "201", body: walletBody },
  "PATCH /console/api/wallets/:id": {
    ...ownedSensitiveRule,
    createParameters: createWallet,
    body: { isDefault: true },
  },
  "DELETE /console/api/wallets/:id": {
    ...ownedSensitiveRule,
    expectedResponse: "204",
    createParameters: createWallet,
  },
  "GET /console/api/account/notifications": sessionRule,
  "PATCH /console/api/account/notifications": { ...sessionRule, body: { new_wallet: false } },
  "POST /console/api/account/notifications/address": {
    ...sensitiveRule,
    expectedResponse: "404 EMAIL_UNAVAILABLE",
    body: { address: "owner@example.com" },
  },
  "POST /console/api/account/notifications/address/confirm": {
    ...sessionRule,
    expectedResponse: "422 INVALID_CONFIRMATION_TOKEN",
    body: { token: "unknown" },
  },
  "DELETE /console/api/account/notifications/address": sensitiveRule,
  // The token in the path authorizes these requests, also from another site. Errors are pages.
  "GET /console/api/unsubscribe/:token": {
    ...anyoneRule,
    expectedResponse: "404",
    createParameters: () => ({ token: "unknown" }),
  },
  "POST /console/api/unsubscribe/:token": {
    ...anyoneRule,
    expectedResponse: "404",
    createParameters: () => ({ token: "unknown" }),
  },
  "GET /console/api/api-keys": sessionRule,
  "POST /console/api/api-keys": {
    ...sensitiveRule,
    expectedResponse: "201",
    body: readOnlyKeyBody,
  },
  "PATCH /console/api/api-keys/:id": {
    ...ownedRule,
    createParameters: createKey,
    body: { active: false },
  },
  "DELETE /console/api/api-keys/:id": {
    ...ownedRule,
    expectedResponse: "204",
    createParameters: createKey,
  },
  "POST /console/api/api-keys/:id/rotate": {
    ...ownedSensitiveRule,
    expectedResponse: "201",
    createParameters: createKey,
    body: {},
  },
  "GET /console/api/audit-log": sessionRule,
  "GET /console/api/audit-log/export": sessionRule,

  "GET /console/api/deposits": sessionRule,
  "GET /console/api/deposits.csv": sessionRule,
  "POST /console/api/deposits/:id/assign": {
    ...sessionRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: getMissingDeposit,
    body: { paymentLinkId: "plink_00000000000000000000000000" },
  },
  "POST /console/api/deposits/:id/dismiss": {
    ...sessionRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: getMissingDeposit,
  },
  "GET /console/api/overview": sessionRule,
  "GET /console/api/payment-links": sessionRule,
  "GET /console/api/payment-links.csv": sessionRule,
  "GET /console/api/payments.csv": sessionRule,
  "POST /console/api/payment-links": { ...sessionRule, body: { toAmount: "1" } },
  "POST /console/api/payment-links/first-address-index": {
    ...sessionRule,
    expectedResponse: "422 INVALID_WALLET_ADDRESS",
    body: { walletAddress: "no key", tokenId: "btc" },
  },
  "GET /console/api/payment-links/ignored-fields": sessionRule,
  "GET /console/api/payment-links/:id": { ...ownedRule, createParameters: createLink },
  "GET /console/api/payment-links/:id/payments": { ...ownedRule, createParameters: createLink },
  "GET /console/api/payment-links/:id/story": { ...ownedRule, createParameters: createLink },
  "POST /console/api/payment-links/:id/deactivate": { ...ownedRule, createParameters: createLink },
  "POST /console/api/payment-links/:id/refunds": {
    ...sessionRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: createLink,
    body: { ...missingRefund, transactionId: "none" },
  },
  "POST /console/api/payment-links/:id/refund-instructions": {
    ...sessionRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: createLink,
    body: missingRefund,
  },

  "GET /console/api/webhook-endpoints": sessionRule,
  "POST /console/api/webhook-endpoints": {
    ...sensitiveRule,
    expectedResponse: "201",
    body: endpointBody,
  },
  "PATCH /console/api/webhook-endpoints/:id": {
    ...ownedRule,
    createParameters: createEndpoint,
    body: { enabled: false },
  },
  "DELETE /console/api/webhook-endpoints/:id": {
    ...ownedRule,
    expectedResponse: "204",
    createParameters: createEndpoint,
  },
  "GET /console/api/webhook-endpoints/:id/deliveries": {
    ...ownedRule,
    createParameters: createEndpoint,
  },
  "GET /console/api/webhook-endpoints/:id/deliveries/:deliveryId": {
    ...sessionRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: async (owner) => ({
      ...(await createEndpoint(owner)),
      deliveryId: "evt_00000000000000000000000000",
    }),
  },

  // Without a link ID, the parameter is missing. For another account's link, the list is empty.
  "GET /console/api/webhook-deliveries": { ...sessionRule, expectedResponse: "422 missing" },

  "POST /command/sign-ins": {
    ...anyoneRule,
    expectedResponse: "201",
    body: { deviceName: "laptop" },
  },
  "POST /command/sign-ins/poll": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    body: { deviceCode: "unknown" },
  },
  // The sign-ins do not exist, because any user can allow one, and only once.
  "GET /console/api/api-keys/sign-ins/:code": { ...sessionRule, ...unknownCode },
  "POST /console/api/api-keys/sign-ins/:code/allow": {
    ...sensitiveRule,
    ...unknownCode,
    body: { scopes: ["payment_link:read"] },
  },
  "POST /console/api/api-keys/sign-ins/:code/deny": { ...sessionRule, ...unknownCode },
  "POST /command/webhook-listeners": { caller: "payment_link:read", expectedResponse: "201" },
  // The listener does not exist, because the stream of an existing one would not end.
  "GET /command/webhook-listeners/:id/events": {
    caller: "payment_link:read",
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ id: "whl_00000000000000000000000000" }),
  },
  "DELETE /command/webhook-listeners/:id": {
    caller: "payment_link:read",
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ id: "whl_00000000000000000000000000" }),
  },

  "POST /settlement-notices/:provider": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ provider: "nobody" }),
    body: {},
  },

  "GET /@:handle/pay/:id": { ...anyoneRule, expectedResponse: "200", createParameters: createLink },
  "GET /": { ...anyoneRule, expectedResponse: "200" },
  "GET /favicon.svg": { ...anyoneRule, expectedResponse: "200" },
  "GET /favicon.ico": { ...anyoneRule, expectedResponse: "200" },
  "GET /tx/:id": {
    ...anyoneRule,
    expectedResponse: "404",
    createParameters: () => ({ id: "tx_none" }),
  },
  // A form on a page. These tests have no SMTP server.
  "POST /tx/:id": {
    ...anyoneRule,
    expectedResponse: "404",
    createParameters: () => ({ id: "tx_none" }),
    crossSiteResponse: "403",
  },
  "GET /console": { ...anyoneRule, expectedResponse: "200" },
  "GET /console/*view": { ...anyoneRule, expectedResponse: "200" },
  "GET /console/version": { ...anyoneRule, expectedResponse: "200" },
  "GET /console/assets/:name": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ name: "none.js" }),
  },
  "GET /docs": { ...anyoneRule, expectedResponse: "200" },
  "GET /docs/:page": {
    ...anyoneRule,
    expectedResponse: "200",
    createParameters: () => ({ page: "webhooks" }),
  },
  "GET /docs/assets/:name": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ name: "none.js" }),
  },
  "GET /checkout/payment-links/:id": {
    ...anyoneRule,
    expectedResponse: "200",
    createParameters: createLink,
  },
  // The link does not exist, because the stream of an existing link would not end.
  "GET /checkout/payment-links/:id/events": {
    ...anyoneRule,
    expectedResponse: "404 CANNOT_FIND_PAYMENT_LINK",
    createParameters: () => ({ id: newId("plink") }),
  },
  "GET /checkout/transactions/:id": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: () => ({ id: "tx_none" }),
  },
  // The link is on an EVM chain. Other tests cover links on Solana.
  "GET /checkout/solana/:id": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: createLink,
  },
  "POST /checkout/solana/:id": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    body: { account: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM" },
    createParameters: createLink,
  },
  "GET /checkout/images/:userId/:digest": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: ({ userId }) => ({ userId, digest: "0123" }),
  },
  "GET /checkout/assets/:name": {
    ...anyoneRule,
    expectedResponse: "200",
    createParameters: () => ({ name: "page.css" }),
  },
  "GET /checkout/qr/:id.svg": {
    ...anyoneRule,
    expectedResponse: "200",
    createParameters: createLink,
  },
  // The link is on an EVM chain, where a payment request cannot contain its reference.
  "GET /checkout/qr/:id/payment.svg": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: createLink,
  },
  "GET /checkout/qr/:id/request.svg": {
    ...anyoneRule,
    expectedResponse: "404 NOT_FOUND",
    createParameters: createLink,
  },
  "GET /checkout/logos/:chainId.svg": {
    ...anyoneRule,
    expectedResponse: "200",
    createParameters: () => ({ chainId: "1" }),
  },
};

type System = Awaited<ReturnType<typeof startServicesInProcess>>;
let system: System;
let shop: Merchant;
let keys: Record<(typeof keyKinds)[number] | Scope, string>;

const keyKinds = ["malformed", "unknown", "expired", "inactive", "revoked"] as const;

beforeAll(async () => {
  system = await startServicesInProcess();
  shop = await createMerchant(system, "shop");
  keys = await createKeys();
});
afterAll(() => system?.close());

const createKeys = async () => {
  const createNewKey = async (overrides: Record<string, unknown>) => {
    const { status, body } = await call(`${system.baseUrl}/console/api/api-keys`, {
      method: "POST",
      headers: { cookie: shop.cookie },
      body: { name: "n", scopes, ...overrides },
    });
    expect(status).toBe(201);
    return { id: String(body["id"]), key: String(body["key"]) };
  };
  const changeKey = (method: "PATCH" | "DELETE", id: string, body?: unknown) =>
    call(`${system.baseUrl}/console/api/api-keys/${id}`, {
      method,
      headers: { cookie: shop.cookie },
      body,
    });
  const expiresAt = new Date(system.clock.now().getTime() + 1000).toISOString();
  const expiredKey = await createNewKey({ expiresAt });
  const inactiveKey = await createNewKey({});
  const revokedKey = await createNewKey({});
  await changeKey("PATCH", inactiveKey.id, { active: false });
  await changeKey("DELETE", revokedKey.id);
  system.clock.advance(1000);
  return {
    malformed: "plk_live_typo",
    unknown: generateApiKey("live"),
    expired: expiredKey.key,
    inactive: inactiveKey.key,
    revoked: revokedKey.key,
    "payment_link:create": (await createNewKey({ scopes: ["payment_link:create"] })).key,
    "payment_link:read": (await createNewKey({ scopes: ["payment_link:read"] })).key,
  };
};

let merchantCount = 0;
const createNewMerchant = () => createMerchant(system, `merchant_${(merchantCount += 1)}`);

const formatRoute = ({ method, path }: Pick<Route, "method" | "path">): string =>
  `${method.toUpperCase()} ${path}`;

const getCallerRule = ({ caller }: Pick<Route, "caller">): CallerRule =>
  caller.by === "api-key" ? caller.scope : caller.by;

/** Formats the rule of a route for comparison. */
const formatRule = (rule: CallerRule, needsPresence = false): string =>
  needsPresence ? `${rule}, present` : rule;

describe("the route tables of the four services", () => {
  test("have exactly the routes listed here, each with its authorization rule", () => {
    const declaredRules = system.publicRoutes.map(
      (route) => `${formatRoute(route)}: ${formatRule(getCallerRule(route), route.needsPresence)}`,
    );
    const expectedRules = Object.entries(expectations).map(
      ([name, { caller, needsPresence }]) => `${name}: ${formatRule(caller, needsPresence)}`,
    );
    expect(declaredRules.toSorted()).toEqual(expectedRules.toSorted());
  });
});

describe("the API documents", () => {
  test("name every route that returns JSON, with the authorization rule that its service enforces", () => {
    const getNow = () => system.clock.now();
    const documentedRules = [
      ...Object.values(publicLinkOperations(createLinkBody(getNow))),
      ...Object.values(testModeOperations),
      ...consoleOperations({ catalogue: loadCatalogue(), now: getNow }),
    ].map(
      (operation: Operation) =>
        `${formatRoute(operation)}: ${formatRule(operation.caller, operation.needsPresence)}`,
    );
    const servedRules = system.publicRoutes
      .filter(({ path }) => /^\/(v1|console\/api|command|checkout)\//.test(path))
      .filter(
        ({ path }) =>
          !/openapi\.json$|\/form$|\/unsubscribe\/|^\/checkout\/(assets|images|logos|pictures|qr)\//.test(
            path,
          ),
      )
      .map(
        (route) =>
          `${formatRoute(route)}: ${formatRule(getCallerRule(route), route.needsPresence)}`,
      );
    expect(documentedRules.toSorted()).toEqual(servedRules.toSorted());
  });
});

describe("the routes of operators and other services", () => {
  test("are not on the public listener, for any caller (rule OPS-2)", async () => {
    const headers = { cookie: shop.cookie, "x-api-key": keys["payment_link:create"] };
    expect(system.internalRoutes.length).toBeGreaterThan(0);
    for (const route of system.internalRoutes) {
      const method = route.method.toUpperCase() as "GET" | "POST";
      const { status } = await call(`${system.baseUrl}${route.path}`, { method, headers });
      expect([route.path, status]).toEqual([route.path, 404]);
    }
  });
});

describe("every kind of caller gets the expected response from", () => {
  test.each(Object.entries(expectations))("%s", async (name, expected) => {
    const staleMerchant = await createNewMerchant();
    // A stale session is allowed to call routes that are not sensitive. It uses its own object.
    const staleParameters = (await expected.createParameters?.(staleMerchant)) ?? {};
    system.clock.advance(1);
    const owner = { ...staleMerchant, cookie: await signInAgain(system, staleMerchant) };
    const otherMerchant = await createNewMerchant();
    const parameters = (await expected.createParameters?.(owner)) ?? {};
    system.clock.advance(presenceMsMax - 1);
    const results: Record<string, string> = {};
    for (const [callerName, headers] of await createCallers({
      owner,
      stale: staleMerchant,
      other: otherMerchant,
    })) {
      const pathParameters = callerName === staleCallerName ? staleParameters : parameters;
      results[callerName] = await requestRoute(name, expected, pathParameters, headers);
    }
    const callerNames = Object.keys(results);
    expect(results).toEqual(
      Object.fromEntries(
        callerNames.map((callerName) => [callerName, getExpectedResponse(expected, callerName)]),
      ),
    );
  });
});

const evilOrigin = "https://evil.example";

type CallerCase = [kind: string, headers: Record<string, string>];

type TestMerchants = Record<"owner" | "stale" | "other", Merchant>;

/** Returns the cookies by which each service identifies a session. */
const buildSessionCookies = (token: string): string =>
  ["session", "session-links", "session-webhooks"].map((name) => `${name}=${token}`).join("; ");

/** The owner, with a session whose last proof of presence is 10 minutes old. */
const staleCallerName = "session: stale";

describe("an authorized caller's non-object body is rejected by", () => {
  const routesWithBody = Object.entries(expectations).filter(
    ([, { caller, body }]) => body !== undefined && caller !== "anyone",
  );
  test.each(routesWithBody)("%s", async (name, expected) => {
    const owner = await createNewMerchant();
    const parameters = (await expected.createParameters?.(owner)) ?? {};
    const headers = { cookie: owner.cookie, "x-api-key": keys["payment_link:create"] };
    const result = await requestRoute(name, { ...expected, body: [] }, parameters, headers);
    expect(result).toBe("422 model_attributes_type");
  });
});

/**
 * Creates every kind of caller. The caller who is allowed to change the object comes last, so that
 * the object is unchanged for the others.
 */
const createCallers = async ({
  owner,
  stale: staleMerchant,
  other: otherMerchant,
}: TestMerchants): Promise<CallerCase[]> => {
  const endedMerchant = await createMerchant(system, `ended_${owner.handle}`);
  await call(`${system.baseUrl}/console/api/session`, {
    method: "DELETE",
    headers: { cookie: endedMerchant.cookie },
  });
  const suspendedMerchant = await createMerchant(system, `suspended_${owner.handle}`);
  await call(`${system.internalUrl}/internal/accounts/suspend`, {
    method: "POST",
    body: { handle: suspendedMerchant.handle },
  });
  const createKeyCaller = (keyKind: keyof typeof keys): CallerCase => [
    `key: ${keyKind}`,
    { "x-api-key": keys[keyKind] },
  ];
  return [
    ["anonymous", {}],
    ...keyKinds.map(createKeyCaller),
    ...scopes.map(createKeyCaller),
    ["suspended account: key", { "x-api-key": suspendedMerchant.apiKey }],
    ["suspended account: session", { cookie: suspendedMerchant.cookie }],
    ["key: a session token instead", { "x-api-key": /(?<==)[^;]+/.exec(owner.cookie)?.[0] ?? "" }],
    ["session: an API key instead", { cookie: buildSessionCookies(keys["payment_link:create"]) }],
    ["session: unknown", { cookie: buildSessionCookies("nobodys") }],
    ["session: ended", { cookie: endedMerchant.cookie }],
    [staleCallerName, { cookie: staleMerchant.cookie }],
    ["session: sent by another site", { cookie: owner.cookie, "sec-fetch-site": "cross-site" }],
    ["session: sent by a sibling domain", { cookie: owner.cookie, "sec-fetch-site": "same-site" }],
    [
      "session: sent by another site, recognized by its origin",
      { cookie: owner.cookie, origin: evilOrigin },
    ],
    ["session: another account's", { cookie: otherMerchant.cookie }],
    ["session: own", { cookie: owner.cookie }],
  ];
};

const requestRoute = async (
  name: string,
  { body }: RouteExpectation,
  parameters: PathParameters,
  headers: Record<string, string>,
): Promise<string> => {
  const [method, path = ""] = name.split(" ");
  const filledPath = path.replaceAll(/:(\w+)/g, (_text, parameter) => parameters[parameter] ?? "");
  const response = await call(`${system.baseUrl}${filledPath}`, {
    method: method as "GET" | "POST" | "PATCH" | "DELETE",
    headers,
    body,
  });
  const errors = Array.isArray(response.body["errors"]) ? response.body["errors"] : [];
  return [response.status, ...errors.map((error: { code: string }) => error.code)].join(" ");
};

const isCrossSite = (callerName: string): boolean => callerName.startsWith("session: sent by ");

const getExpectedResponse = (expected: RouteExpectation, callerName: string): string => {
  if (expected.caller === "anyone") return getExpectedForAnyone(expected, callerName);
  return expected.caller === "session"
    ? getExpectedForSession(expected, callerName)
    : getExpectedForKey(expected, callerName);
};

const getExpectedForAnyone = (
  { expectedResponse, crossSiteResponse = expectedResponse }: RouteExpectation,
  callerName: string,
): string => (isCrossSite(callerName) ? crossSiteResponse : expectedResponse);

const getExpectedForSession = (
  {
    expectedResponse,
    isOwnerOnly,
    needsPresence = false,
    ownResponse = expectedResponse,
  }: RouteExpectation,
  callerName: string,
): string => {
  if (callerName === staleCallerName)
    return needsPresence ? "401 REAUTHENTICATION_REQUIRED" : expectedResponse;
  if (callerName === "session: own") return ownResponse;
  if (callerName === "suspended account: session") return "403 ACCOUNT_SUSPENDED";
  if (callerName === "session: another account's")
    return isOwnerOnly ? "404 NOT_FOUND" : expectedResponse;
  return isCrossSite(callerName) ? "403 CROSS_SITE_REQUEST" : "401 UNAUTHENTICATED";
};

const getExpectedForKey = (
  { caller, expectedResponse }: RouteExpectation,
  callerName: string,
): string => {
  if (callerName === `key: ${caller}`) return expectedResponse;
  if (callerName === "suspended account: key") return "403 ACCOUNT_SUSPENDED";
  if (scopes.some((scope) => callerName === `key: ${scope}`)) return "403 INSUFFICIENT_API_SCOPE";
  if (callerName === "key: expired") return "401 EXPIRED_API_KEY";
  return callerName.startsWith("key: ") ? "401 INVALID_API_KEY" : "401 UNAUTHENTICATED";
};
