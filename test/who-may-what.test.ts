import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type Operation,
  type Scope,
  consoleOperations,
  createLinkBody,
  mintApiKey,
  newId,
  openCatalogue,
  publicLinkOperations,
  scopes,
} from "@payment-links/contracts";
import type { Route } from "@payment-links/http";
import { presenceMsMax } from "@payment-links/identity";
import { type Merchant, call, openMerchant, signInAgain } from "./rig/client.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

/** Who may call a route: anybody, a key with a scope, or a signed-in person. */
type Rule = "anyone" | "session" | Scope;

/** The values of a path's parameters. */
type Parameters = Record<string, string>;

type Expected = {
  by: Rule;
  /** What a permitted caller is answered: the status, and the codes of a refusal. */
  answers: string;
  body?: unknown;
  /** The thing that a path is about, made for one test. */
  of?: (owner: Merchant) => Parameters | Promise<Parameters>;
  /** Whether only the owner may see the thing: for everybody else it does not exist. */
  isOwned?: boolean;
  /** Whether the person must have proven lately to be there (rule CALLER-19). */
  needsPresence?: boolean;
  /** What another site's page is answered, if it is refused though anybody may call. */
  toOtherSites?: string;
};

const create = async (owner: Merchant, path: string, body: unknown): Promise<Parameters> => {
  const answer = await call(`${system.baseUrl}/console/api/${path}`, {
    method: "POST",
    headers: { cookie: owner.cookie },
    body,
  });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return { id: String(answer.body["id"]) };
};

const readOnly = { name: "shop", scopes: ["payment_link:read"] };
const wallet = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};
const hook = { url: "https://shop.com/hook", name: "shop" };

const ownKey = (owner: Merchant) => create(owner, "api-keys", readOnly);
let wallets = 0;
const ownWallet = (owner: Merchant) => {
  const walletAddress = `0x${(0xab_cdef + (wallets += 1)).toString(16).padStart(40, "0")}`;
  return create(owner, "wallets", { ...wallet, walletAddress });
};
const ownEndpoint = (owner: Merchant) => create(owner, "webhook-endpoints", hook);
/** Money comes by a chain alone: here there is none. */
const noDeposit = async (): Promise<Parameters> => ({ id: "dep_00000000000000000000000000" });
const ownLink = async (owner: Merchant) => ({
  handle: owner.handle,
  ...(await create(owner, "payment-links", { toAmount: "1" })),
});
const ownSession = async (owner: Merchant): Promise<Parameters> => {
  const answer = await call(`${system.baseUrl}/console/api/sessions`, {
    headers: { cookie: owner.cookie },
  });
  const [session] = answer.body["data"] as { id: string }[];
  return { id: session?.id ?? "" };
};

const anyone = { by: "anyone" } as const;
const unavailable = { ...anyone, answers: "404 SIGN_IN_METHOD_UNAVAILABLE" } as const;
const session = { by: "session", answers: "200" } as const;
const owned = { by: "session", answers: "200", isOwned: true } as const;
const sensitive = { ...session, needsPresence: true } as const;
const ownedSensitive = { ...owned, needsPresence: true } as const;

/** Every public route of the four services: who may call it, and what they are answered. */
const expectations: Record<string, Expected> = {
  "POST /v1/payment-link": {
    by: "payment_link:create",
    answers: "200",
    body: { toAmount: "1" },
  },
  "GET /v1/payment-link": { by: "payment_link:read", answers: "200" },
  "GET /v1/payment-link/:id": { ...anyone, answers: "200", of: ownLink },
  "GET /v1/openapi.json": { ...anyone, answers: "200" },
  "GET /console/api/openapi.json": { ...anyone, answers: "200" },

  "POST /console/api/session": {
    ...anyone,
    answers: "401 INVALID_SIGN_IN_TOKEN",
    body: { token: "nobody's" },
    toOtherSites: "403 CROSS_SITE_REQUEST",
  },
  "POST /console/api/session/link": {
    ...anyone,
    answers: "401 INVALID_SIGN_IN_TOKEN",
    body: { token: "nobody's" },
    toOtherSites: "403 CROSS_SITE_REQUEST",
  },
  // A page's form: its refusals are pages.
  "POST /console/api/session/form": { ...anyone, answers: "401", toOtherSites: "403" },
  "GET /console/api/session": session,
  "DELETE /console/api/session": { ...session, answers: "204" },
  "POST /console/api/session/presence": {
    ...session,
    answers: "401 INVALID_SIGN_IN_TOKEN",
    body: { token: "nobody's" },
  },
  "GET /console/api/session/methods": { ...anyone, answers: "200" },
  "GET /console/api/session/nonce": {
    ...anyone,
    answers: "200",
    toOtherSites: "403 CROSS_SITE_REQUEST",
  },
  // The tests' address is a number, which no passkey can be made for.
  "GET /console/api/session/passkey": {
    ...unavailable,
    toOtherSites: "403 CROSS_SITE_REQUEST",
  },
  "GET /console/api/passkeys": session,
  "GET /console/api/passkeys/creation": {
    ...sensitive,
    answers: "404 SIGN_IN_METHOD_UNAVAILABLE",
  },
  "POST /console/api/passkeys": { ...sensitive, answers: "404 SIGN_IN_METHOD_UNAVAILABLE" },
  "PATCH /console/api/passkeys/:id": {
    ...session,
    answers: "404 NOT_FOUND",
    of: () => ({ id: "pky_00000000000000000000000000" }),
    body: { name: "mine" },
  },
  "DELETE /console/api/passkeys/:id": {
    ...sensitive,
    answers: "404 NOT_FOUND",
    of: () => ({ id: "pky_00000000000000000000000000" }),
  },
  "GET /console/api/session/oidc": { ...unavailable, toOtherSites: "403 CROSS_SITE_REQUEST" },
  "GET /console/api/session/oidc/callback": unavailable,
  "GET /console/api/sessions": session,
  "DELETE /console/api/sessions/:id": { ...owned, answers: "204", of: ownSession },
  "GET /console/api/identities": session,
  "POST /console/api/identities": {
    ...sensitive,
    answers: "401 INVALID_SIWE_MESSAGE",
    body: { siwe: { message: "", signature: "" } },
  },
  "DELETE /console/api/identities/:id": {
    ...sensitive,
    answers: "404 NOT_FOUND",
    of: () => ({ id: "idn_00000000000000000000000000" }),
  },
  "GET /console/api/account": session,
  "PATCH /console/api/account": { ...session, body: { bio: "changed" } },
  "GET /console/api/tokens": session,
  "GET /console/api/wallets": session,
  "POST /console/api/wallets": { ...sensitive, answers: "201", body: wallet },
  "PATCH /console/api/wallets/:id": {
    ...ownedSensitive,
    of: ownWallet,
    body: { isDefault: true },
  },
  "DELETE /console/api/wallets/:id": { ...ownedSensitive, answers: "204", of: ownWallet },
  "GET /console/api/api-keys": session,
  "POST /console/api/api-keys": { ...sensitive, answers: "201", body: readOnly },
  "PATCH /console/api/api-keys/:id": { ...owned, of: ownKey, body: { active: false } },
  "DELETE /console/api/api-keys/:id": { ...owned, answers: "204", of: ownKey },
  "POST /console/api/api-keys/:id/rotate": {
    ...ownedSensitive,
    answers: "201",
    of: ownKey,
    body: {},
  },
  "GET /console/api/audit-log": session,
  "GET /console/api/audit-log/export": session,

  "GET /console/api/deposits": session,
  "GET /console/api/deposits.csv": session,
  "POST /console/api/deposits/:id/assign": {
    ...session,
    answers: "404 NOT_FOUND",
    of: noDeposit,
    body: { paymentLinkId: "plink_00000000000000000000000000" },
  },
  "POST /console/api/deposits/:id/dismiss": {
    ...session,
    answers: "404 NOT_FOUND",
    of: noDeposit,
  },
  "GET /console/api/overview": session,
  "GET /console/api/payment-links": session,
  "GET /console/api/payment-links.csv": session,
  "GET /console/api/payments.csv": session,
  "POST /console/api/payment-links": { ...session, body: { toAmount: "1" } },
  "POST /console/api/payment-links/first-address-index": {
    ...session,
    answers: "422 INVALID_WALLET_ADDRESS",
    body: { walletAddress: "no key", tokenId: "btc" },
  },
  "GET /console/api/payment-links/:id": { ...owned, of: ownLink },
  "GET /console/api/payment-links/:id/payments": { ...owned, of: ownLink },
  "GET /console/api/payment-links/:id/story": { ...owned, of: ownLink },
  "POST /console/api/payment-links/:id/deactivate": { ...owned, of: ownLink },

  "GET /console/api/webhook-endpoints": session,
  "POST /console/api/webhook-endpoints": { ...sensitive, answers: "201", body: hook },
  "PATCH /console/api/webhook-endpoints/:id": {
    ...owned,
    of: ownEndpoint,
    body: { enabled: false },
  },
  "DELETE /console/api/webhook-endpoints/:id": { ...owned, answers: "204", of: ownEndpoint },
  "GET /console/api/webhook-endpoints/:id/deliveries": { ...owned, of: ownEndpoint },
  "GET /console/api/webhook-endpoints/:id/deliveries/:deliveryId": {
    ...session,
    answers: "404 NOT_FOUND",
    of: async (owner) => ({
      ...(await ownEndpoint(owner)),
      deliveryId: "evt_00000000000000000000000000",
    }),
  },

  // Without a link it is told so; of another account's link there is an empty page.
  "GET /console/api/webhook-deliveries": { ...session, answers: "422 missing" },

  "POST /settlement-notices/:provider": {
    ...anyone,
    answers: "404 NOT_FOUND",
    of: () => ({ provider: "nobody" }),
    body: {},
  },

  "GET /@:handle/pay/:id": { ...anyone, answers: "200", of: ownLink },
  "GET /": { ...anyone, answers: "200" },
  "GET /favicon.svg": { ...anyone, answers: "200" },
  "GET /favicon.ico": { ...anyone, answers: "200" },
  "GET /tx/:id": { ...anyone, answers: "404", of: () => ({ id: "tx_none" }) },
  "GET /console": { ...anyone, answers: "200" },
  "GET /console/*view": { ...anyone, answers: "200" },
  "GET /console/version": { ...anyone, answers: "200" },
  "GET /console/assets/:name": {
    ...anyone,
    answers: "404 NOT_FOUND",
    of: () => ({ name: "none.js" }),
  },
  "GET /checkout/payment-links/:id": { ...anyone, answers: "200", of: ownLink },
  // A stream of a link that is there does not end.
  "GET /checkout/payment-links/:id/events": {
    ...anyone,
    answers: "404 CANNOT_FIND_PAYMENT_LINK",
    of: () => ({ id: newId("plink") }),
  },
  "GET /checkout/transactions/:id": {
    ...anyone,
    answers: "404 NOT_FOUND",
    of: () => ({ id: "tx_none" }),
  },
  // The link is on an EVM chain; a link on Solana is what its own tests ask about.
  "GET /checkout/solana/:id": { ...anyone, answers: "404 NOT_FOUND", of: ownLink },
  "POST /checkout/solana/:id": {
    ...anyone,
    answers: "404 NOT_FOUND",
    body: { account: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM" },
    of: ownLink,
  },
  "GET /checkout/images/:userId/:digest": {
    ...anyone,
    answers: "404 NOT_FOUND",
    of: ({ userId }) => ({ userId, digest: "0123" }),
  },
  "GET /checkout/assets/:name": { ...anyone, answers: "200", of: () => ({ name: "page.css" }) },
  "GET /checkout/qr/:id.svg": { ...anyone, answers: "200", of: ownLink },
  // The link is on an EVM chain, where no payment request can say its reference.
  "GET /checkout/qr/:id/payment.svg": { ...anyone, answers: "404 NOT_FOUND", of: ownLink },
  "GET /checkout/qr/:id/request.svg": { ...anyone, answers: "404 NOT_FOUND", of: ownLink },
  "GET /checkout/logos/:chainId.svg": { ...anyone, answers: "200", of: () => ({ chainId: "1" }) },
};

type System = Awaited<ReturnType<typeof openServicesInProcess>>;
let system: System;
let shop: Merchant;
let keys: Record<(typeof keyKinds)[number] | Scope, string>;

const keyKinds = ["no key's text", "unknown", "expired", "switched off", "revoked"] as const;

beforeAll(async () => {
  system = await openServicesInProcess();
  shop = await openMerchant(system, "shop");
  keys = await makeKeys();
});
afterAll(() => system?.close());

const makeKeys = async () => {
  const make = async (more: Record<string, unknown>) => {
    const { status, body } = await call(`${system.baseUrl}/console/api/api-keys`, {
      method: "POST",
      headers: { cookie: shop.cookie },
      body: { name: "n", scopes, ...more },
    });
    expect(status).toBe(201);
    return { id: String(body["id"]), key: String(body["key"]) };
  };
  const change = (method: "PATCH" | "DELETE", id: string, body?: unknown) =>
    call(`${system.baseUrl}/console/api/api-keys/${id}`, {
      method,
      headers: { cookie: shop.cookie },
      body,
    });
  const expiresAt = new Date(system.clock.now().getTime() + 1000).toISOString();
  const expired = await make({ expiresAt });
  const off = await make({});
  const revoked = await make({});
  await change("PATCH", off.id, { active: false });
  await change("DELETE", revoked.id);
  system.clock.advance(1000);
  return {
    "no key's text": "plk_live_typo",
    unknown: mintApiKey("live"),
    expired: expired.key,
    "switched off": off.key,
    revoked: revoked.key,
    "payment_link:create": (await make({ scopes: ["payment_link:create"] })).key,
    "payment_link:read": (await make({ scopes: ["payment_link:read"] })).key,
  };
};

let merchants = 0;
const openAnother = () => openMerchant(system, `merchant_${(merchants += 1)}`);

const nameOf = ({ method, path }: Pick<Route, "method" | "path">): string =>
  `${method.toUpperCase()} ${path}`;

const ruleOf = ({ caller }: Pick<Route, "caller">): Rule =>
  caller.by === "api-key" ? caller.scope : caller.by;

/** Who may call a route by its service's own word, as these tests put it. */
const told = (rule: Rule, needsPresence = false): string =>
  needsPresence ? `${rule}, present` : rule;

describe("the route tables of the four services", () => {
  test("have the routes that are named here, no other, each by the rule that is named here", () => {
    const declared = system.publicRoutes.map(
      (route) => `${nameOf(route)}: ${told(ruleOf(route), route.needsPresence)}`,
    );
    const named = Object.entries(expectations).map(
      ([name, { by, needsPresence }]) => `${name}: ${told(by, needsPresence)}`,
    );
    expect(declared.toSorted()).toEqual(named.toSorted());
  });
});

describe("the documents of the API", () => {
  test("name every route that answers JSON, by the rule that its service holds to", () => {
    const now = () => system.clock.now();
    const documented = [
      ...Object.values(publicLinkOperations(createLinkBody(now))),
      ...consoleOperations({ catalogue: openCatalogue(), now }),
    ].map(
      (operation: Operation) =>
        `${nameOf(operation)}: ${told(operation.caller, operation.needsPresence)}`,
    );
    const served = system.publicRoutes
      .filter(({ path }) => /^\/(v1|console\/api|checkout)\//.test(path))
      .filter(
        ({ path }) => !/openapi\.json$|\/form$|^\/checkout\/(assets|images|logos|qr)\//.test(path),
      )
      .map((route) => `${nameOf(route)}: ${told(ruleOf(route), route.needsPresence)}`);
    expect(documented.toSorted()).toEqual(served.toSorted());
  });
});

describe("what operators and the other services call", () => {
  test("is at no public address, whoever asks (rule OPS-2)", async () => {
    const headers = { cookie: shop.cookie, "x-api-key": keys["payment_link:create"] };
    expect(system.internalRoutes.length).toBeGreaterThan(0);
    for (const route of system.internalRoutes) {
      const method = route.method.toUpperCase() as "GET" | "POST";
      const { status } = await call(`${system.baseUrl}${route.path}`, { method, headers });
      expect([route.path, status]).toEqual([route.path, 404]);
    }
  });
});

describe("every kind of caller gets what the rule says, of", () => {
  test.each(Object.entries(expectations))("%s", async (name, expected) => {
    const stale = await openAnother();
    // The stale session may do what is not sensitive, and does it to a thing of its own.
    const ofStale = (await expected.of?.(stale)) ?? {};
    system.clock.advance(1);
    const owner = { ...stale, cookie: await signInAgain(system, stale) };
    const stranger = await openAnother();
    const parameters = (await expected.of?.(owner)) ?? {};
    system.clock.advance(presenceMsMax - 1);
    const outcomes: Record<string, string> = {};
    for (const [kind, headers] of await callersOf({ owner, stale, stranger })) {
      const thing = kind === staleKind ? ofStale : parameters;
      outcomes[kind] = await outcomeOf(name, expected, thing, headers);
    }
    const kinds = Object.keys(outcomes);
    expect(outcomes).toEqual(
      Object.fromEntries(kinds.map((kind) => [kind, expectedFor(expected, kind)])),
    );
  });
});

const evil = "https://evil.example";

type Caller = [kind: string, headers: Record<string, string>];

type Merchants = Record<"owner" | "stale" | "stranger", Merchant>;

/** The cookies by which each service knows a session. */
const sessionCookiesOf = (token: string): string =>
  ["session", "session-links", "session-webhooks"].map((name) => `${name}=${token}`).join("; ");

/** The owner, whose last proof of presence in this session was ten minutes ago. */
const staleKind = "session: stale";

describe("a body that is no object is told so to who may call, of", () => {
  const takesBody = Object.entries(expectations).filter(
    ([, { by, body }]) => body !== undefined && by !== "anyone",
  );
  test.each(takesBody)("%s", async (name, expected) => {
    const owner = await openAnother();
    const parameters = (await expected.of?.(owner)) ?? {};
    const headers = { cookie: owner.cookie, "x-api-key": keys["payment_link:create"] };
    const outcome = await outcomeOf(name, { ...expected, body: [] }, parameters, headers);
    expect(outcome).toBe("422 model_attributes_type");
  });
});

/**
 * Every kind of caller. The one who may change the thing comes last, so that the thing is still
 * unchanged then.
 */
const callersOf = async ({ owner, stale, stranger }: Merchants): Promise<Caller[]> => {
  const ended = await openMerchant(system, `ended_${owner.handle}`);
  await call(`${system.baseUrl}/console/api/session`, {
    method: "DELETE",
    headers: { cookie: ended.cookie },
  });
  const suspended = await openMerchant(system, `suspended_${owner.handle}`);
  await call(`${system.internalUrl}/internal/accounts/suspend`, {
    method: "POST",
    body: { handle: suspended.handle },
  });
  const withKey = (kind: keyof typeof keys): Caller => [
    `key: ${kind}`,
    { "x-api-key": keys[kind] },
  ];
  return [
    ["nobody", {}],
    ...keyKinds.map(withKey),
    ...scopes.map(withKey),
    ["suspended: its key", { "x-api-key": suspended.apiKey }],
    ["suspended: its session", { cookie: suspended.cookie }],
    ["key: a session in its place", { "x-api-key": /(?<==)[^;]+/.exec(owner.cookie)?.[0] ?? "" }],
    ["session: a key in its place", { cookie: sessionCookiesOf(keys["payment_link:create"]) }],
    ["session: nobody's", { cookie: sessionCookiesOf("nobodys") }],
    ["session: ended", { cookie: ended.cookie }],
    [staleKind, { cookie: stale.cookie }],
    ["session: sent by another site", { cookie: owner.cookie, "sec-fetch-site": "cross-site" }],
    ["session: sent by a sibling domain", { cookie: owner.cookie, "sec-fetch-site": "same-site" }],
    ["session: sent by another site, told by its origin", { cookie: owner.cookie, origin: evil }],
    ["session: another account's", { cookie: stranger.cookie }],
    ["session: own", { cookie: owner.cookie }],
  ];
};

const outcomeOf = async (
  name: string,
  { body }: Expected,
  parameters: Parameters,
  headers: Record<string, string>,
): Promise<string> => {
  const [method, path = ""] = name.split(" ");
  const filled = path.replaceAll(/:(\w+)/g, (_text, parameter) => parameters[parameter] ?? "");
  const answer = await call(`${system.baseUrl}${filled}`, {
    method: method as "GET" | "POST" | "PATCH" | "DELETE",
    headers,
    body,
  });
  const errors = Array.isArray(answer.body["errors"]) ? answer.body["errors"] : [];
  return [answer.status, ...errors.map((error: { code: string }) => error.code)].join(" ");
};

const isOtherSites = (kind: string): boolean => kind.startsWith("session: sent by ");

const expectedFor = (expected: Expected, kind: string): string => {
  if (expected.by === "anyone") return forAnyone(expected, kind);
  return expected.by === "session" ? forSession(expected, kind) : forKey(expected, kind);
};

const forAnyone = ({ answers, toOtherSites = answers }: Expected, kind: string): string =>
  isOtherSites(kind) ? toOtherSites : answers;

const forSession = (
  { answers, isOwned, needsPresence = false }: Expected,
  kind: string,
): string => {
  if (kind === staleKind) return needsPresence ? "401 REAUTHENTICATION_REQUIRED" : answers;
  if (kind === "session: own") return answers;
  if (kind === "suspended: its session") return "403 ACCOUNT_SUSPENDED";
  if (kind === "session: another account's") return isOwned ? "404 NOT_FOUND" : answers;
  return isOtherSites(kind) ? "403 CROSS_SITE_REQUEST" : "401 UNAUTHENTICATED";
};

const forKey = ({ by, answers }: Expected, kind: string): string => {
  if (kind === `key: ${by}`) return answers;
  if (kind === "suspended: its key") return "403 ACCOUNT_SUSPENDED";
  if (scopes.some((scope) => kind === `key: ${scope}`)) return "403 INSUFFICIENT_API_SCOPE";
  if (kind === "key: expired") return "401 EXPIRED_API_KEY";
  return kind.startsWith("key: ") ? "401 INVALID_API_KEY" : "401 UNAUTHENTICATED";
};
