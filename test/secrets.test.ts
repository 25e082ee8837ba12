import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import {
  type IdentityProvider,
  startIdentityProvider,
} from "@payment-links/auth-keys/testing/identity-provider";
import { createAuthenticator } from "@payment-links/auth-keys/testing/authenticator";
import { createBrowser } from "@payment-links/auth-keys/testing/browser";
import { createWallet, createTestSiweMessage } from "@payment-links/auth-keys/testing/siwe";
import { getTestBrokers, getTestKafkaPassword } from "@payment-links/bus/testing";
import { hashSecret } from "@payment-links/contracts";
import { type TraceCollector, startCollector } from "@payment-links/runtime/testing/collector";
import { call, getCookies, sendNotice } from "./rig/client.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, startReceiver } from "./rig/receiver.ts";
import { type SystemDump, dumpSystem, findSecrets } from "./rig/find-leaked-secrets.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const provider = { provider: "acme", secret: `whsec_${randomBytes(24).toString("base64")}` };
const sealingKey = randomBytes(32).toString("base64");
const origin = "https://console.example";
/** All cookies of a session. */
const sessionCookieNames = [
  "__Secure-session",
  "__Secure-session-links",
  "__Secure-session-webhooks",
  "__Host-session",
];
const oidcPath = "/console/api/session/oidc";
const scopes = ["payment_link:create", "payment_link:read"];
const generateSecret = () => randomBytes(24).toString("hex");
const smtpPassword = generateSecret();
/** Both values of each token, because a rotation uses two values. */
const tokens = {
  services: [generateSecret(), generateSecret()],
  operators: [generateSecret(), generateSecret()],
};
/** Keys in the URLs of chain nodes. There are no nodes at these URLs. */
const rpcKeys = { watched: generateSecret(), signIn: generateSecret() };
const buildRpcUrl = (key: string) => `8453=http://127.0.0.1:9/v2/${key}`;
/** Data that identifies a payer: addresses and the browser. Services must not store it. */
const payers = {
  "a payer's address": "203.0.113.177",
  "another payer's address": "2001:db8:5eed:cafe:77:88:99:aa",
  "a payer's browser": `PayersBrowser/${generateSecret()}`,
  "a payer's email address": `payer-${generateSecret()}@example.com`,
};

describe("after a complete journey that includes rejected and invalid calls", () => {
  let system: RealSystem;
  let collector: TraceCollector;
  let receiver: WebhookReceiver;
  let identityProvider: IdentityProvider;
  let dump: SystemDump;
  let linkId = "";
  /** The secrets to search for. They are collected when they are issued. */
  const secrets: Record<string, string> = {
    "the provider's secret": provider.secret,
    "the sealing key": sealingKey,
    "the services' token": tokens.services[0] ?? "",
    "the services' former token": tokens.services[1] ?? "",
    "the operators' token": tokens.operators[0] ?? "",
    "the operators' former token": tokens.operators[1] ?? "",
    "the key of a watched chain's node": rpcKeys.watched,
    "the key of a node for sign-ins": rpcKeys.signIn,
    "the SMTP password": smtpPassword,
    "a Kafka password": getTestKafkaPassword("settlement-listener"),
    "another Kafka password": getTestKafkaPassword("webhook-dispatcher"),
  };

  beforeAll(async () => {
    [collector, receiver, identityProvider] = await Promise.all([
      startCollector(),
      startReceiver(),
      startIdentityProvider({ redirectUri: `${origin}${oidcPath}/callback` }),
    ]);
    const { issuer, clientId, clientSecret = "" } = identityProvider.client;
    secrets["the OpenID Connect client secret"] = clientSecret;
    system = await startRealSystem({
      replicasPerService: 1,
      env: {
        SETTLEMENT_PROVIDER_SECRETS: `${provider.provider}=${provider.secret}`,
        WEBHOOK_SECRET_KEYS: `test=${sealingKey}`,
        WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${receiver.port}`,
        BASE_URL: origin,
        OIDC_ISSUER: issuer,
        OIDC_CLIENT_ID: clientId,
        OIDC_CLIENT_SECRET: clientSecret,
        INTERNAL_TOKEN: tokens.services.join(),
        OPERATOR_TOKEN: tokens.operators.join(),
        // No server listens there, so every attempt fails and is logged.
        SMTP_URL: `smtp://mailer:${smtpPassword}@127.0.0.1:1`,
        SMTP_FROM: "shop@example.com",
        EVM_RPC_URLS: buildRpcUrl(rpcKeys.watched),
        SIGN_IN_RPC_URLS: buildRpcUrl(rpcKeys.signIn),
        TRUSTED_PROXIES: "127.0.0.1",
        LOG_LEVEL: "trace",
        // The refill is so slow that the buckets still exist at the end.
        RATE_LIMIT_PER_KEY: "0.01:1000",
        RATE_LIMIT_PER_IP: "0.01:1000",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRICS_EXPORTER: "none",
        OTEL_LOGS_EXPORTER: "none",
        OTEL_BSP_SCHEDULE_DELAY: "100",
      },
    });
    await createAllSecrets();
    await signInByOidc();
    await signInByPasskey();
    await signInByContractWallet();
    await provePresence();
    await requestEmail();
    await visitAsPayers();
    await requestReceipt();
    await sendMistakes();
    await waitUntil("the traces arrive", () =>
      collector.received().includes("POST /v1/payment-link"),
    );
    dump = { ...(await dumpSystem(system)), traces: collector.received() };
  });
  afterAll(async () => {
    await system?.close();
    await Promise.all([receiver?.close(), collector?.close(), identityProvider?.close()]);
  });

  const sendRequest = (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ) =>
    call(`${system.baseUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const getCookieHeaders = () => ({
    cookie: sessionCookieNames
      .map((name) => `${name}=${secrets[`the session's ${name}`]}`)
      .join("; "),
  });
  /** Sets an address for notifications, and waits until an email to it could not be sent. */
  const requestEmail = async () => {
    const path = "/console/api/account/notifications/address";
    const body = { address: "owner@example.com" };
    const { status } = await sendRequest("POST", path, getCookieHeaders(), body);
    if (status !== 200) throw new Error(`the address was not stored: ${status}`);
    await waitUntil("an email has failed", async () =>
      system.output().includes("email could not be sent"),
    );
  };
  const storeSession = (response: Pick<Awaited<ReturnType<typeof call>>, "headers">) => {
    const cookieHeader = getCookies(response);
    for (const name of sessionCookieNames) {
      secrets[`the session's ${name}`] =
        new RegExp(`${name}=([^;]+)`).exec(cookieHeader)?.[1] ?? "";
    }
  };

  const callAsOperator = (path: string, body: unknown, token = tokens.operators[0]) =>
    call(`${system.internalUrl}/internal/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body,
    });

  const createAllSecrets = async () => {
    const account = { handle: "secretive", username: "Secretive" };
    const accountResponse = await callAsOperator("accounts", account);
    secrets["the sign-in token"] = extractToken(accountResponse.body["signInUrl"]);
    const token = secrets["the sign-in token"];
    const session = await sendRequest("POST", "/console/api/session", {}, { token });
    storeSession(session);
    const secondSignInLink = await callAsOperator("sign-in-links", { handle: "secretive" });
    secrets["an unused sign-in token"] = extractToken(secondSignInLink.body["signInUrl"]);
    await sendRequest("POST", "/console/api/wallets", getCookieHeaders(), {
      walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
      tokenId: "usdc-base",
      isDefault: true,
    });
    for (const name of ["the API key", "a revoked API key"]) {
      const keyResponse = await sendRequest("POST", "/console/api/api-keys", getCookieHeaders(), {
        name,
        scopes,
      });
      secrets[name] = String(keyResponse.body["key"]);
      if (name !== "the API key") {
        await sendRequest(
          "DELETE",
          `/console/api/api-keys/${String(keyResponse.body["id"])}`,
          getCookieHeaders(),
        );
      }
    }
    const keys = await sendRequest("GET", "/console/api/api-keys", getCookieHeaders());
    const [remainingKey] = keys.body["data"] as { id: string }[];
    const rotatedResponse = await sendRequest(
      "POST",
      `/console/api/api-keys/${remainingKey?.id ?? ""}/rotate`,
      getCookieHeaders(),
      {},
    );
    secrets["a rotated API key"] = String(rotatedResponse.body["key"]);
    const endpointResponse = await sendRequest(
      "POST",
      "/console/api/webhook-endpoints",
      getCookieHeaders(),
      {
        url: "https://receiver.test/hook",
        name: "shop",
      },
    );
    secrets["the webhook secret"] = String(endpointResponse.body["secret"]);
    const keyHeaders = { "x-api-key": secrets["the API key"] ?? "" };
    const created = await sendRequest("POST", "/v1/payment-link", keyHeaders, { toAmount: "5" });
    linkId = String(created.body["id"]);
    await sendRequest("GET", "/v1/payment-link", keyHeaders);
    await sendNotice(system.baseUrl, provider, {
      id: `${linkId}-1`,
      paymentLinkId: linkId,
      amount: "5",
      status: "settled",
    });
    await waitUntil("both webhooks arrive", () => receiver.received.length >= 2);
  };

  /** Signs in at the identity provider, and records the values that pass through the browser. */
  const signInByOidc = async () => {
    const browser = createBrowser({ origin, servedBy: system.baseUrl });
    const callbackPage = await browser.visit(oidcPath, {
      stopBefore: ({ pathname }) => pathname === `${oidcPath}/callback`,
    });
    secrets["an authorization code"] = callbackPage.url.searchParams.get("code") ?? "";
    secrets["the browser secret of an OpenID Connect sign-in"] = browser
      .cookies()
      .replace(/^[^=]*=/, "");
    await browser.visit(callbackPage.url.href, {
      stopBefore: ({ pathname }) => pathname === "/console",
    });
    for (const name of sessionCookieNames) {
      const token = new RegExp(`${name}=([^;]+)`).exec(browser.cookies())?.[1] ?? "";
      secrets[`${name} from OpenID Connect`] = token;
    }
    // Repeats the request with the same code. The service rejects it.
    await browser.visit(callbackPage.url.href, {
      stopBefore: ({ pathname }) => pathname === "/console",
    });
  };

  /** Requests a one-time value as a browser does, and records it with its cookie. */
  const requestOneTimeValue = async (name: string, field: string, path: string, headers = {}) => {
    const response = await sendRequest("GET", path, headers);
    secrets[name] = String(response.body[field]);
    const [browserCookie = ""] = String(response.headers["set-cookie"]).split(";");
    secrets[`the browser cookie of ${name}`] = browserCookie.replace(/^[^=]*=/, "");
    return { value: secrets[name], browserCookie };
  };

  /** Adds a passkey and signs in with it, once for another site and once for ours. */
  const signInByPasskey = async () => {
    const authenticator = createAuthenticator({ origin, rpId: new URL(origin).hostname });
    const path = "/console/api/passkeys";
    const challenge = await requestOneTimeValue(
      "the challenge of a new passkey",
      "challenge",
      `${path}/creation`,
      getCookieHeaders(),
    );
    const addedResponse = await sendRequest(
      "POST",
      path,
      { cookie: `${getCookieHeaders().cookie}; ${challenge.browserCookie}` },
      { name: "key", passkey: authenticator.createCredential({ challenge: challenge.value }) },
    );
    expect(addedResponse.status).toBe(201);
    const expected = { "https://evil.example": 401, [origin]: 200 };
    for (const [siteOrigin, status] of Object.entries(expected)) {
      const name = `a passkey's challenge at ${siteOrigin}`;
      const { value, browserCookie } = await requestOneTimeValue(
        name,
        "challenge",
        "/console/api/session/passkey",
      );
      const passkey = authenticator.sign({ challenge: value, origin: siteOrigin });
      const signInResponse = await sendRequest(
        "POST",
        "/console/api/session",
        { cookie: browserCookie },
        { passkey },
      );
      expect(signInResponse.status).toBe(status);
    }
  };

  /**
   * The signature is invalid for a key, so auth-keys queries the chain for a contract wallet. The
   * chain's node is unavailable.
   */
  const signInByContractWallet = async () => {
    const challenge = await requestOneTimeValue("a nonce", "nonce", "/console/api/session/nonce");
    const { address } = createWallet();
    const siweOptions = { domain: new URL(origin).host, uri: origin, issuedAt: new Date() };
    const message = createTestSiweMessage({ address, nonce: challenge.value, ...siweOptions });
    secrets["a wallet's signature"] = `0x${randomBytes(65).toString("hex")}`;
    const siwe = { message, signature: secrets["a wallet's signature"] };
    const browserHeaders = { cookie: challenge.browserCookie };
    const response = await sendRequest("POST", "/console/api/session", browserHeaders, { siwe });
    expect(response.status).toBe(503);
  };

  /**
   * Proves presence again with a sign-in link that was created with the previous operator token.
   */
  const provePresence = async () => {
    const signInLinkResponse = await callAsOperator(
      "sign-in-links",
      { handle: "secretive" },
      tokens.operators[1],
    );
    const token = extractToken(signInLinkResponse.body["signInUrl"]);
    secrets["the token of a presence proof"] = token;
    const path = "/console/api/session/presence";
    const rejectedResponse = await sendRequest("POST", path, getCookieHeaders(), {
      token: `${token}x`,
    });
    expect(rejectedResponse.status).toBe(401);
    const renewedResponse = await sendRequest("POST", path, getCookieHeaders(), { token });
    for (const name of sessionCookieNames) {
      secrets[`${name} before the presence proof`] = secrets[`the session's ${name}`] ?? "";
    }
    storeSession(renewedResponse);
  };

  /** Requests a receipt by email, which cannot be sent, and one for an address that is invalid. */
  const requestReceipt = async () => {
    const { body } = await sendRequest("GET", `/v1/payment-link/${linkId}`);
    const { pathname } = new URL(String(body["transactionUrl"]));
    const address = payers["a payer's email address"];
    const submit = async (value: string) => {
      const form = new URLSearchParams({ address: value });
      return (await fetch(`${system.baseUrl}${pathname}`, { method: "POST", body: form })).status;
    };
    expect([await submit(address), await submit(`${address},${address}`)]).toEqual([503, 422]);
    expect(system.output()).toContain("receipt could not be sent");
  };

  /** Opens the payer's pages, and pages that do not exist, from both addresses. */
  const visitAsPayers = async () => {
    const [address = "", otherAddress = "", userAgent = ""] = Object.values(payers);
    const paths = ["/@secretive/pay/", "/checkout/payment-links/", "/v1/payment-link/"].flatMap(
      (path) => [`${path}${linkId}`, `${path}plink_none`],
    );
    const extraPaths = [
      "/tx/tx_none",
      "/checkout/transactions/tx_none",
      "/checkout/assets/page.css",
      "/",
    ];
    for (const forwardedFor of [address, otherAddress, `${otherAddress}, ${address}`]) {
      const headers = { "x-forwarded-for": forwardedFor, "user-agent": userAgent };
      for (const path of [...paths, ...extraPaths]) {
        expect((await sendRequest("GET", path, headers)).status).toBeLessThan(500);
        expect((await sendRequest("POST", path, headers, {})).status).toBeLessThan(500);
      }
    }
  };

  /** Sends secrets in the wrong places, as users do by mistake. */
  const sendMistakes = async () => {
    const [apiKey = "", session = ""] = [
      secrets["the API key"],
      secrets["the session's __Secure-session"],
    ];
    const token = secrets["an unused sign-in token"];
    const responses = [
      await sendRequest("GET", `/v1/payment-link?api_key=${apiKey}&status=${apiKey}`, {
        "x-api-key": apiKey,
      }),
      await sendRequest("GET", `/v1/payment-link/${apiKey}`),
      await sendRequest("GET", `/${apiKey}`),
      await sendRequest("GET", `/console/${session}`),
      await sendRequest("GET", "/v1/payment-link", { authorization: `Bearer ${apiKey}` }),
      await sendRequest("GET", "/v1/payment-link", { "x-api-key": `${apiKey}, ${apiKey}` }),
      await sendRequest("GET", "/v1/payment-link", { "x-api-key": `${apiKey}x` }),
      await sendRequest("GET", "/v1/payment-link", {
        "x-api-key": secrets["a revoked API key"] ?? "",
      }),
      await sendRequest(
        "POST",
        "/v1/payment-link",
        { "x-api-key": apiKey },
        { toAmount: apiKey, maxUsage: apiKey },
      ),
      await sendRequest("GET", "/console/api/account", { cookie: `${getCookieHeaders().cookie}x` }),
      await sendRequest("GET", "/console/api/account", {
        ...getCookieHeaders(),
        "sec-fetch-site": "cross-site",
      }),
      await sendRequest("POST", "/console/api/session", {}, { token: `${token}x` }),
      await sendRequest(
        "POST",
        "/console/api/session",
        {},
        { siwe: { message: token, signature: apiKey } },
      ),
      await sendRequest("DELETE", `/console/api/api-keys/${apiKey}`, getCookieHeaders()),
      await sendRequest(
        "POST",
        `/settlement-notices/${provider.secret.replaceAll("/", "")}`,
        {},
        {},
      ),
      await callAsOperator("introspect", { kind: "api-key", hash: apiKey }),
      await callAsOperator("introspect", { kind: "api-key", hash: apiKey }, tokens.services[1]),
      await callAsOperator(`accounts?token=${tokens.operators[0] ?? ""}`, {}, `${apiKey}x`),
      await callAsOperator("accounts", {
        handle: tokens.operators[1],
        username: tokens.services[0],
      }),
    ];
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
  };

  test("no table, topic, Redis value, log line, metric or trace contains a secret (rule KEEP-7)", () => {
    expect(Object.values(secrets).every((secret) => secret.length > 20)).toBe(true);
    expect(findSecrets(secrets, dump)).toEqual([]);
  });

  test("none of them contains a payer's identity", () => {
    expect(findSecrets(payers, dump)).toEqual([]);
  });

  test("the searched data is complete", () => {
    const expectInDump = (source: string, text: string) => expect(dump[source]).toContain(text);
    // Only the hash of the key is stored, as bytes. This searches for the hash.
    expectInDump(
      "table auth_keys.api_keys",
      hashSecret(secrets["the API key"] ?? "").toString("hex"),
    );
    expectInDump("table links_api.links", linkId);
    expectInDump("table webhook_dispatcher.endpoints", "receiver.test");
    for (const topic of ["accounts.v1", "payment-links.v1", "settlements.v1"]) {
      expect(dump[`topic ${topic}`]).toMatch(/ce_type=\w/);
    }
    expectInDump("topic payment-links.v1", linkId);
    expectInDump("Redis", "{payment-links:rate-limit:v2}:key:");
    for (const service of ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]) {
      expectInDump("log", `"service":"${service}"`);
      expectInDump("metrics", `service="${service}"`);
      expectInDump("traces", service);
    }
    expectInDump("log", '"level":"debug"');
    expectInDump("traces", "POST /console/api/session");
  });

  test("a secret planted anywhere is found", async () => {
    const plantedSecret = { planted: `plk_live_${randomBytes(27).toString("base64url")}` };
    const secret = plantedSecret.planted;
    const client = new Client({ connectionString: system.adminUrl });
    await client.connect();
    const values = [secret, Buffer.from(`a key: ${secret}`), { deep: [btoa(`ab${secret}`)] }];
    await client.query("CREATE TABLE links_api.as_text AS SELECT $1::text AS x", [values[0]]);
    await client.query("CREATE TABLE links_api.as_bytes AS SELECT $1::bytea AS x", [values[1]]);
    await client.query("CREATE TABLE links_api.as_json AS SELECT $1::jsonb AS x", [values[2]]);
    await client.end();
    const redis = new Redis(system.redisUrl);
    await redis.hset(`planted:${secret.slice(0, 4)}`, "field", secret);
    const brokers = getTestBrokers();
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    await producer.send({
      topic: `${system.topicPrefix}accounts.v1.dead-letter`,
      messages: [{ key: "k", value: "v", headers: { reason: `refused ${secret}` } }],
    });
    await producer.disconnect();

    const foundPlaces = findSecrets(plantedSecret, await dumpSystem(system));
    await redis.del(`planted:${secret.slice(0, 4)}`);
    await redis.quit();
    expect(foundPlaces.sort()).toEqual(
      [
        "planted in Redis",
        "planted in table links_api.as_bytes",
        "planted in table links_api.as_json",
        "planted in table links_api.as_text",
        "planted in topic accounts.v1.dead-letter",
      ].sort(),
    );
  });
});

const extractToken = (signInUrl: unknown): string =>
  new URLSearchParams(new URL(String(signInUrl)).hash.slice(1)).get("token") ?? "";
