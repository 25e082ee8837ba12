import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { getTestSaslConnection } from "@payment-links/bus/testing";
import { hashSecret, topicUsage, topics } from "@payment-links/contracts";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { type Merchant, call, createMerchant, requestSignIn } from "./rig/client.ts";
import { createCookieJar } from "./rig/cookie-jar.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { startReceiver } from "./rig/receiver.ts";
import { buildShopEnv } from "./rig/shop-env.ts";

// Tests what an attacker who controls a service can do. The attacker has the service's credentials
// and sees every request that it receives. The processes, database roles and Kafka users are the
// same as in the chart.

const generateSecret = () => randomBytes(24).toString("hex");
const operatorToken = generateSecret();
/** A Bitcoin account key. It reveals all payments to the account. */
const descriptorKey =
  "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";

let system: RealSystem;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let merchant: Merchant & { walletId: string; keyId: string };
/** The cookies of the merchant's browser session, which has a recent proof of presence. */
let cookieJar: ReturnType<typeof createCookieJar>;

beforeAll(async () => {
  receiver = await startReceiver();
  const { SETTLEMENT_PROVIDER_SECRETS, ...env } = buildShopEnv(receiver);
  system = await startRealSystem({
    replicasPerService: 1,
    env: { ...env, INTERNAL_TOKEN: generateSecret(), RATE_LIMIT_PER_IP: "1000:1000" },
    envByService: {
      "auth-keys": { OPERATOR_TOKEN: operatorToken },
      "links-api": { OPERATOR_TOKEN: generateSecret() },
      "settlement-listener": { OPERATOR_TOKEN: generateSecret(), SETTLEMENT_PROVIDER_SECRETS },
      "webhook-dispatcher": { OPERATOR_TOKEN: generateSecret() },
    },
  });
  const accountResponse = await createMerchant({ ...system, operatorToken }, "alice");
  const headers = { cookie: accountResponse.cookie };
  const wallet = await call(`${system.baseUrl}/console/api/wallets`, {
    method: "POST",
    headers,
    body: { walletAddress: descriptorKey, tokenId: "btc" },
  });
  expect(wallet.status).toBe(201);
  const keys = await call(`${system.baseUrl}/console/api/api-keys`, { headers });
  const [apiKey] = keys.body["data"] as { id: string }[];
  merchant = { ...accountResponse, walletId: String(wallet.body["id"]), keyId: apiKey?.id ?? "" };
  cookieJar = createCookieJar();
  cookieJar.store(
    [
      (await requestSignIn({ ...system, operatorToken }, merchant)).headers["set-cookie"] ?? [],
    ].flat(),
  );
});

afterAll(async () => {
  await system?.close();
  await receiver?.close();
});

/** The paths of each service that a signed-in user's browser requests. */
const pathsByService = {
  "webhook-dispatcher": ["/console/api/webhook-endpoints", "/console/api/webhook-deliveries/whd_1"],
  "links-api": [
    "/console",
    "/console/api/payment-links",
    "/console/api/payment-links.csv",
    "/console/api/payments.csv",
    "/console/api/deposits",
    "/console/api/deposits.csv",
    "/console/api/overview",
  ],
} as const;
type CompromisedService = keyof typeof pathsByService;

/**
 * Returns every cookie value that the service receives, combined with every cookie name that
 * auth-keys or a service reads.
 */
const listReplayedCookies = (service: CompromisedService): string[] => {
  const headers = pathsByService[service].map((path) => cookieJar.getCookieHeader(path));
  const cookieValues = headers.flatMap((header) =>
    header
      .split("; ")
      .filter(Boolean)
      .map((pair) => pair.replace(/^[^=]*=/, "")),
  );
  const names = ["session", "session-links", "session-webhooks"];
  return [
    ...headers,
    ...new Set(cookieValues.flatMap((value) => names.map((name) => `${name}=${value}`))),
  ];
};

type RequestAttempt = ["GET" | "POST" | "PATCH" | "DELETE", string, unknown?];

const listAuthKeysAttempts = (): RequestAttempt[] => [
  ["GET", "/console/api/session"],
  ["GET", "/console/api/wallets"],
  ["POST", "/console/api/wallets", { walletAddress: attackerAddress, tokenId: "usdc-base" }],
  ["PATCH", `/console/api/wallets/${merchant.walletId}`, { isDefault: true }],
  ["GET", "/console/api/api-keys"],
  ["POST", "/console/api/api-keys", { name: "thief", scopes: ["payment_link:create"] }],
  ["DELETE", `/console/api/api-keys/${merchant.keyId}`],
];

const attackerAddress = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

describe.each(Object.keys(pathsByService) as CompromisedService[])(
  "an attacker who controls %s",
  (service) => {
    test("cannot replay a freshly proven session at auth-keys (rule CALLER-40)", async () => {
      const replayedCookies = listReplayedCookies(service);
      expect(replayedCookies.length).toBeGreaterThan(3);
      const results = new Set<string>();
      for (const cookie of replayedCookies) {
        for (const [method, path, body] of listAuthKeysAttempts()) {
          const { status } = await call(`${system.baseUrl}${path}`, {
            method,
            headers: { cookie },
            body,
          });
          results.add(`${method} ${path.split("/")[3]} ${status}`);
        }
      }
      expect([...results].filter((result) => !result.endsWith(" 401"))).toEqual([]);
    });

    test("cannot act as the user at the other service (rule CALLER-40)", async () => {
      const attempts = {
        "webhook-dispatcher": [
          ["POST", "/console/api/payment-links", { toAmount: "1" }],
          ["POST", "/console/api/deposits/dep_1/assign", { paymentLinkId: "plink_1" }],
        ],
        "links-api": [
          ["GET", "/console/api/webhook-endpoints"],
          ["POST", "/console/api/webhook-endpoints", { url: "https://receiver.test/x", name: "x" }],
        ],
      } satisfies Record<CompromisedService, RequestAttempt[]>;
      for (const cookie of listReplayedCookies(service)) {
        for (const [method, path, body] of attempts[service] as RequestAttempt[]) {
          const headers = { cookie };
          const { status } = await call(`${system.baseUrl}${path}`, { method, headers, body });
          expect([path, cookie, status]).toEqual([path, cookie, 401]);
        }
      }
    });

    /** Returns the service's tokens as bearer headers. */
    const listBearerHeaders = () =>
      [system.getEnv(service)["INTERNAL_TOKEN"], system.getEnv(service)["OPERATOR_TOKEN"]].map(
        (token) => ({ authorization: `Bearer ${token}` }),
      );

    test("cannot create a sign-in link or act as an operator at another service (rule OPS-12)", async () => {
      const getInternalUrl = (name: string) =>
        `http://127.0.0.1:${system.replicas.find((replica) => replica.service === name)?.internalPort}`;
      const attempts = [
        ["auth-keys", "POST", "/internal/sign-in-links", { handle: merchant.handle }],
        ["auth-keys", "POST", "/internal/accounts", { handle: "thief", username: "Thief" }],
        ["auth-keys", "POST", "/internal/accounts/revoke-everything", { handle: merchant.handle }],
        ["auth-keys", "GET", "/internal/audit-log", undefined],
        ["settlement-listener", "POST", "/internal/settlement/resume", { chainId: "8453" }],
      ] as const;
      for (const headers of listBearerHeaders()) {
        for (const [name, method, path, body] of attempts) {
          const { status } = await call(`${getInternalUrl(name)}${path}`, {
            method,
            headers,
            body,
          });
          expect([path, status]).toEqual([path, 401]);
        }
      }
    });

    test("can introspect only its own service's session token (rules CALLER-40 and CALLER-41)", async () => {
      const [headers = {}] = listBearerHeaders();
      const introspectedServices = new Map<string, string>();
      const cookieValues = listReplayedCookies(service).flatMap((header) =>
        header.split("; ").map((pair) => pair.replace(/^[^=]*=/, "")),
      );
      for (const value of new Set(cookieValues)) {
        for (const serviceName of ["auth-keys", "links-api", "webhook-dispatcher"]) {
          for (const kind of ["session", "api-key"]) {
            const hash = hashSecret(value).toString("hex");
            const body = { kind, hash, service: serviceName };
            const url = `${system.internalUrl}/internal/introspect`;
            const response = await call(url, { method: "POST", headers, body });
            expect(response.status).toBe(200);
            if (response.body["found"] === true)
              introspectedServices.set(serviceName, JSON.stringify(response.body));
          }
        }
      }
      expect([...introspectedServices.keys()]).toEqual([service]);
      const isDescriptorKnown = introspectedServices.get(service)?.includes(descriptorKey) ?? false;
      // links-api derives each link's address from the account key.
      expect(isDescriptorKnown).toBe(service === "links-api");
    });

    test("cannot read or change anything in other schemas", async () => {
      const client = new Client({ connectionString: system.getEnv(service)["DATABASE_URL"] });
      await client.connect();
      try {
        const statements = [
          "SELECT * FROM auth_keys.wallets",
          "SELECT * FROM auth_keys.sessions",
          "UPDATE auth_keys.api_keys SET revoked_at = now()",
          "INSERT INTO auth_keys.outbox (id) VALUES ('x')",
          "SELECT * FROM settlement_listener.payments",
          "INSERT INTO settlement_listener.outbox (id) VALUES ('x')",
          service === "links-api"
            ? "SELECT * FROM webhook_dispatcher.endpoints"
            : "UPDATE links_api.links SET status = 'completed'",
          "SET ROLE auth_keys",
        ];
        for (const statement of statements) {
          const queryResult = client.query(statement).then(
            () => "done",
            (error: unknown) => String(error),
          );
          expect([statement, await queryResult]).toEqual([
            statement,
            expect.stringContaining("permission denied"),
          ]);
        }
      } finally {
        await client.end();
      }
    });
  },
);

/**
 * The topics whose events contain wallets, those whose events can complete a link, and what a
 * service does not need of audit events and notifications.
 */
const forbiddenTopics = {
  "webhook-dispatcher": {
    produces: [topics.accounts, topics.paymentLinks, topics.settlements],
    consumes: [topics.accounts, topics.settlements],
  },
  "links-api": { produces: [topics.accounts, topics.settlements], consumes: [topics.ownerImages] },
  "settlement-listener": {
    produces: [topics.accounts, topics.audit, topics.notifications, topics.paymentLinks],
    consumes: [topics.accounts, topics.audit, topics.notifications],
  },
} satisfies Record<CompromisedService | "settlement-listener", unknown>;

const usersSuite = getTestSaslConnection("auth-keys") === undefined ? describe.skip : describe;

usersSuite.each(Object.keys(forbiddenTopics) as (keyof typeof forbiddenTopics)[])(
  "an attacker who controls %s, with its Kafka user",
  (service) => {
    const createKafka = () => {
      const connection = getTestSaslConnection(service);
      if (connection === undefined) throw new Error("the Kafka users are missing");
      const { brokers, sasl } = connection;
      return new Kafka({
        brokers,
        sasl,
        clientId: "thief",
        logLevel: logLevel.NOTHING,
        retry: { retries: 0 },
      });
    };
    const getOutcome = (request: Promise<unknown>) =>
      request.then(
        () => "done",
        (error: unknown) => (error instanceof Error ? error.message : "no error"),
      );
    const deniedPattern = /not authorized|does not host/i;

    test("cannot publish to a topic that it does not write (rules EVENT-11 and OPS-12)", async () => {
      const producer = createKafka().producer();
      await producer.connect();
      try {
        for (const topic of forbiddenTopics[service].produces) {
          const name = `${system.topicPrefix}${topic}`;
          const sent = producer.send({ topic: name, messages: [{ key: "k", value: "{}" }] });
          expect([topic, await getOutcome(sent)]).toEqual([
            topic,
            expect.stringMatching(deniedPattern),
          ]);
        }
        // Publishing to its own topic succeeds. This shows that the rejections are caused by the
        // missing privileges.
        const ownTopic = `${system.topicPrefix}${topicUsage[service].produces[0]}`;
        const sendResult = producer.send({
          topic: ownTopic,
          messages: [{ key: "k", value: "{}" }],
        });
        expect(await getOutcome(sendResult)).toBe("done");
      } finally {
        await producer.disconnect();
      }
    });

    test("cannot see a topic that it does not need (rules CALLER-41, EVENT-10 and OPS-12)", async () => {
      const admin = createKafka().admin();
      await admin.connect();
      try {
        const readOffsets = (topic: string) =>
          getOutcome(admin.fetchTopicOffsets(`${system.topicPrefix}${topic}`));
        for (const topic of forbiddenTopics[service].consumes) {
          expect([topic, await readOffsets(topic)]).toEqual([
            topic,
            expect.stringMatching(deniedPattern),
          ]);
        }
        // It can read the topics that it needs. This shows that the rejections are caused by the
        // missing privileges.
        for (const topic of topicUsage[service].consumes) {
          expect([topic, await readOffsets(topic)]).toEqual([topic, "done"]);
        }
      } finally {
        await admin.disconnect();
      }
    });
  },
);
