import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import {
  type IdentityProvider,
  openIdentityProvider,
} from "@payment-links/auth-keys/testing/identity-provider";
import { makeAuthenticator } from "@payment-links/auth-keys/testing/authenticator";
import { createBrowser } from "@payment-links/auth-keys/testing/browser";
import { makeWallet, siweMessage } from "@payment-links/auth-keys/testing/siwe";
import { testBrokers, testKafkaPassword } from "@payment-links/bus/testing";
import { hashSecret } from "@payment-links/contracts";
import { type Collector, openCollector } from "./rig/collector.ts";
import { call, cookiesOf, sendNotice } from "./rig/client.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { type Receiver, openReceiver } from "./rig/receiver.ts";
import { type Dump, dumpSystem, findSecrets } from "./rig/secret-hunt.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const provider = { provider: "acme", secret: `whsec_${randomBytes(24).toString("base64")}` };
const sealingKey = randomBytes(32).toString("base64");
const origin = "https://console.example";
/** Every cookie of a session. */
const sessionNames = [
  "__Secure-session",
  "__Secure-session-links",
  "__Secure-session-webhooks",
  "__Host-session",
];
const oidcPath = "/console/api/session/oidc";
const scopes = ["payment_link:create", "payment_link:read"];
const random = () => randomBytes(24).toString("hex");
/** Both values of each token, as while it is rotated. */
const tokens = { services: [random(), random()], operators: [random(), random()] };
/** Keys in the URLs of chains' nodes, none of which is there. */
const rpcKeys = { watched: random(), signIn: random() };
const rpcUrlOf = (key: string) => `8453=http://127.0.0.1:9/v2/${key}`;
/** Who pays, from where and with what; nobody may keep it. */
const payers = {
  "a payer's address": "203.0.113.177",
  "another payer's address": "2001:db8:5eed:cafe:77:88:99:aa",
  "a payer's browser": `PayersBrowser/${random()}`,
};

describe("after a whole journey, refused and mistaken calls among it", () => {
  let system: RealSystem;
  let collector: Collector;
  let receiver: Receiver;
  let people: IdentityProvider;
  let dump: Dump;
  let linkId = "";
  /** The secrets to look for, collected while they are handed out. */
  const secrets: Record<string, string> = {
    "the provider's secret": provider.secret,
    "the sealing key": sealingKey,
    "the services' token": tokens.services[0] ?? "",
    "the services' former token": tokens.services[1] ?? "",
    "the operators' token": tokens.operators[0] ?? "",
    "the operators' former token": tokens.operators[1] ?? "",
    "the key of a watched chain's node": rpcKeys.watched,
    "the key of a node that sign-ins ask": rpcKeys.signIn,
    "a password at Kafka": testKafkaPassword("settlement-listener"),
    "another password at Kafka": testKafkaPassword("webhook-dispatcher"),
  };

  beforeAll(async () => {
    [collector, receiver, people] = await Promise.all([
      openCollector(),
      openReceiver(),
      openIdentityProvider({ redirectUri: `${origin}${oidcPath}/callback` }),
    ]);
    const { issuer, clientId, clientSecret = "" } = people.client;
    secrets["the client's secret"] = clientSecret;
    system = await openRealSystem({
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
        EVM_RPC_URLS: rpcUrlOf(rpcKeys.watched),
        SIGN_IN_RPC_URLS: rpcUrlOf(rpcKeys.signIn),
        TRUSTED_PROXIES: "127.0.0.1",
        LOG_LEVEL: "trace",
        // So slow to refill that the buckets are still there at the end.
        RATE_LIMIT_PER_KEY: "0.01:1000",
        RATE_LIMIT_PER_IP: "0.01:1000",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRICS_EXPORTER: "none",
        OTEL_LOGS_EXPORTER: "none",
        OTEL_BSP_SCHEDULE_DELAY: "100",
      },
    });
    await journey();
    await signInElsewhere();
    await signInByPasskey();
    await signInByContractWallet();
    await provePresence();
    await payersCome();
    await mistakes();
    await waitUntil("the traces", () => collector.received().includes("POST /v1/payment-link"));
    dump = { ...(await dumpSystem(system)), traces: collector.received() };
  });
  afterAll(async () => {
    await system?.close();
    await Promise.all([receiver?.close(), collector?.close(), people?.close()]);
  });

  const send = (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ) =>
    call(`${system.baseUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const cookie = () => ({
    cookie: sessionNames.map((name) => `${name}=${secrets[`the session's ${name}`]}`).join("; "),
  });
  const keepSession = (answer: Pick<Awaited<ReturnType<typeof call>>, "headers">) => {
    const set = cookiesOf(answer);
    for (const name of sessionNames) {
      secrets[`the session's ${name}`] = new RegExp(`${name}=([^;]+)`).exec(set)?.[1] ?? "";
    }
  };

  const asOperator = (path: string, body: unknown, token = tokens.operators[0]) =>
    call(`${system.internalUrl}/internal/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body,
    });

  const journey = async () => {
    const account = { handle: "secretive", username: "Secretive" };
    const opened = await asOperator("accounts", account);
    secrets["the sign-in token"] = tokenIn(opened.body["signInUrl"]);
    const token = secrets["the sign-in token"];
    const session = await send("POST", "/console/api/session", {}, { token });
    keepSession(session);
    const second = await asOperator("sign-in-links", { handle: "secretive" });
    secrets["a sign-in token that nobody used"] = tokenIn(second.body["signInUrl"]);
    await send("POST", "/console/api/wallets", cookie(), {
      walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
      tokenId: "usdc-base",
      isDefault: true,
    });
    for (const name of ["the API key", "a revoked API key"]) {
      const made = await send("POST", "/console/api/api-keys", cookie(), { name, scopes });
      secrets[name] = String(made.body["key"]);
      if (name !== "the API key") {
        await send("DELETE", `/console/api/api-keys/${String(made.body["id"])}`, cookie());
      }
    }
    const keys = await send("GET", "/console/api/api-keys", cookie());
    const [kept] = keys.body["data"] as { id: string }[];
    const rotated = await send(
      "POST",
      `/console/api/api-keys/${kept?.id ?? ""}/rotate`,
      cookie(),
      {},
    );
    secrets["a rotated API key"] = String(rotated.body["key"]);
    const endpoint = await send("POST", "/console/api/webhook-endpoints", cookie(), {
      url: "https://receiver.test/hook",
      name: "shop",
    });
    secrets["the webhook secret"] = String(endpoint.body["secret"]);
    const key = { "x-api-key": secrets["the API key"] ?? "" };
    const created = await send("POST", "/v1/payment-link", key, { toAmount: "5" });
    linkId = String(created.body["id"]);
    await send("GET", "/v1/payment-link", key);
    await sendNotice(system.baseUrl, provider, {
      id: `${linkId}-1`,
      paymentLinkId: linkId,
      amount: "5",
      status: "settled",
    });
    await waitUntil("both webhooks", () => receiver.received.length >= 2);
  };

  /** Signs in at the identity provider, and keeps what passes through the browser. */
  const signInElsewhere = async () => {
    const browser = createBrowser({ origin, servedBy: system.baseUrl });
    const back = await browser.visit(oidcPath, {
      stopBefore: ({ pathname }) => pathname === `${oidcPath}/callback`,
    });
    secrets["an authorization code"] = back.url.searchParams.get("code") ?? "";
    secrets["the browser's secret of a sign-in"] = browser.cookies().replace(/^[^=]*=/, "");
    await browser.visit(back.url.href, { stopBefore: ({ pathname }) => pathname === "/console" });
    for (const name of sessionNames) {
      const token = new RegExp(`${name}=([^;]+)`).exec(browser.cookies())?.[1] ?? "";
      secrets[`${name} from OpenID Connect`] = token;
    }
    // Once more with the same code, which is refused.
    await browser.visit(back.url.href, { stopBefore: ({ pathname }) => pathname === "/console" });
  };

  /** Asks for what a browser answers once, and keeps it with the cookie that comes with it. */
  const ask = async (name: string, field: string, path: string, more = {}) => {
    const asked = await send("GET", path, more);
    secrets[name] = String(asked.body[field]);
    const [browser = ""] = String(asked.headers["set-cookie"]).split(";");
    secrets[`the browser of ${name}`] = browser.replace(/^[^=]*=/, "");
    return { value: secrets[name], browser };
  };

  /** Adds a passkey and signs in by it, once for another site and once for ours. */
  const signInByPasskey = async () => {
    const authenticator = makeAuthenticator({ origin, rpId: new URL(origin).hostname });
    const path = "/console/api/passkeys";
    const asked = await ask(
      "the challenge of a new passkey",
      "challenge",
      `${path}/creation`,
      cookie(),
    );
    const added = await send(
      "POST",
      path,
      { cookie: `${cookie().cookie}; ${asked.browser}` },
      { name: "key", passkey: authenticator.make({ challenge: asked.value }) },
    );
    expect(added.status).toBe(201);
    const expected = { "https://evil.example": 401, [origin]: 200 };
    for (const [site, status] of Object.entries(expected)) {
      const name = `a passkey's challenge at ${site}`;
      const { value, browser } = await ask(name, "challenge", "/console/api/session/passkey");
      const passkey = authenticator.sign({ challenge: value, origin: site });
      const signedIn = await send("POST", "/console/api/session", { cookie: browser }, { passkey });
      expect(signedIn.status).toBe(status);
    }
  };

  /** Signs with no key's signature, so that the chain is asked, whose node is away. */
  const signInByContractWallet = async () => {
    const asked = await ask("a nonce", "nonce", "/console/api/session/nonce");
    const { address } = makeWallet();
    const own = { domain: new URL(origin).host, uri: origin, issuedAt: new Date() };
    const message = siweMessage({ address, nonce: asked.value, ...own });
    secrets["a wallet's signature"] = `0x${randomBytes(65).toString("hex")}`;
    const siwe = { message, signature: secrets["a wallet's signature"] };
    const browser = { cookie: asked.browser };
    const answer = await send("POST", "/console/api/session", browser, { siwe });
    expect(answer.status).toBe(503);
  };

  /** Proves once more to be there, by a link that the former token of operators makes. */
  const provePresence = async () => {
    const made = await asOperator("sign-in-links", { handle: "secretive" }, tokens.operators[1]);
    const token = tokenIn(made.body["signInUrl"]);
    secrets["the token of a proof"] = token;
    const path = "/console/api/session/presence";
    const proven = await send("POST", path, cookie(), { token: `${token}x` });
    expect(proven.status).toBe(401);
    const renewed = await send("POST", path, cookie(), { token });
    for (const name of sessionNames) {
      secrets[`${name} before its proof`] = secrets[`the session's ${name}`] ?? "";
    }
    keepSession(renewed);
  };

  /** Opens what payers open, and what is not there, from both addresses. */
  const payersCome = async () => {
    const [address = "", other = "", browser = ""] = Object.values(payers);
    const paths = ["/@secretive/pay/", "/checkout/payment-links/", "/v1/payment-link/"].flatMap(
      (path) => [`${path}${linkId}`, `${path}plink_none`],
    );
    const more = [
      "/tx/tx_none",
      "/checkout/transactions/tx_none",
      "/checkout/assets/page.css",
      "/",
    ];
    for (const from of [address, other, `${other}, ${address}`]) {
      const headers = { "x-forwarded-for": from, "user-agent": browser };
      for (const path of [...paths, ...more]) {
        expect((await send("GET", path, headers)).status).toBeLessThan(500);
        expect((await send("POST", path, headers, {})).status).toBeLessThan(500);
      }
    }
  };

  /** What people do with secrets that they were given. */
  const mistakes = async () => {
    const [key = "", session = ""] = [
      secrets["the API key"],
      secrets["the session's __Secure-session"],
    ];
    const token = secrets["a sign-in token that nobody used"];
    const answers = [
      await send("GET", `/v1/payment-link?api_key=${key}&status=${key}`, { "x-api-key": key }),
      await send("GET", `/v1/payment-link/${key}`),
      await send("GET", `/${key}`),
      await send("GET", `/console/${session}`),
      await send("GET", "/v1/payment-link", { authorization: `Bearer ${key}` }),
      await send("GET", "/v1/payment-link", { "x-api-key": `${key}, ${key}` }),
      await send("GET", "/v1/payment-link", { "x-api-key": `${key}x` }),
      await send("GET", "/v1/payment-link", { "x-api-key": secrets["a revoked API key"] ?? "" }),
      await send(
        "POST",
        "/v1/payment-link",
        { "x-api-key": key },
        { toAmount: key, maxUsage: key },
      ),
      await send("GET", "/console/api/account", { cookie: `${cookie().cookie}x` }),
      await send("GET", "/console/api/account", { ...cookie(), "sec-fetch-site": "cross-site" }),
      await send("POST", "/console/api/session", {}, { token: `${token}x` }),
      await send("POST", "/console/api/session", {}, { siwe: { message: token, signature: key } }),
      await send("DELETE", `/console/api/api-keys/${key}`, cookie()),
      await send("POST", `/settlement-notices/${provider.secret.replaceAll("/", "")}`, {}, {}),
      await asOperator("introspect", { kind: "api-key", hash: key }),
      await asOperator("introspect", { kind: "api-key", hash: key }, tokens.services[1]),
      await asOperator(`accounts?token=${tokens.operators[0] ?? ""}`, {}, `${key}x`),
      await asOperator("accounts", { handle: tokens.operators[1], username: tokens.services[0] }),
    ];
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  };

  test("no table, topic, Redis value, log line, metric or trace holds a secret (rule KEEP-7)", () => {
    expect(Object.values(secrets).every((secret) => secret.length > 20)).toBe(true);
    expect(findSecrets(secrets, dump)).toEqual([]);
  });

  test("nor does any of them hold who a payer was", () => {
    expect(findSecrets(payers, dump)).toEqual([]);
  });

  test("and it was all there to be searched", () => {
    const holds = (place: string, text: string) => expect(dump[place]).toContain(text);
    // Only its hash is stored, as bytes; that hash is looked for as it is.
    holds("table auth_keys.api_keys", hashSecret(secrets["the API key"] ?? "").toString("hex"));
    holds("table links_api.links", linkId);
    holds("table webhook_dispatcher.endpoints", "receiver.test");
    for (const topic of ["accounts.v1", "payment-links.v1", "settlements.v1"]) {
      expect(dump[`topic ${topic}`]).toMatch(/ce_type=\w/);
    }
    holds("topic payment-links.v1", linkId);
    holds("Redis", "{payment-links:rate-limit:v2}:key:");
    for (const service of ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]) {
      holds("log", `"service":"${service}"`);
      holds("metrics", `service="${service}"`);
      holds("traces", service);
    }
    holds("log", '"level":"debug"');
    holds("traces", "POST /console/api/session");
  });

  test("a secret that is planted anywhere is found there", async () => {
    const planted = { planted: `plk_live_${randomBytes(27).toString("base64url")}` };
    const secret = planted.planted;
    const client = new Client({ connectionString: system.adminUrl });
    await client.connect();
    const values = [secret, Buffer.from(`a key: ${secret}`), { deep: [btoa(`ab${secret}`)] }];
    await client.query("CREATE TABLE links_api.as_text AS SELECT $1::text AS x", [values[0]]);
    await client.query("CREATE TABLE links_api.as_bytes AS SELECT $1::bytea AS x", [values[1]]);
    await client.query("CREATE TABLE links_api.as_json AS SELECT $1::jsonb AS x", [values[2]]);
    await client.end();
    const redis = new Redis(system.redisUrl);
    await redis.hset(`planted:${secret.slice(0, 4)}`, "field", secret);
    const brokers = testBrokers();
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    await producer.send({
      topic: `${system.topicPrefix}accounts.v1.dead-letter`,
      messages: [{ key: "k", value: "v", headers: { reason: `refused ${secret}` } }],
    });
    await producer.disconnect();

    const places = findSecrets(planted, await dumpSystem(system));
    await redis.del(`planted:${secret.slice(0, 4)}`);
    await redis.quit();
    expect(places.sort()).toEqual(
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

const tokenIn = (signInUrl: unknown): string =>
  new URLSearchParams(new URL(String(signInUrl)).hash.slice(1)).get("token") ?? "";
