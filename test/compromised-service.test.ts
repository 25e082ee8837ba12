import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { testSaslConnection } from "@payment-links/bus/testing";
import { hashSecret, topicUse, topics } from "@payment-links/contracts";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { type Merchant, call, openMerchant, signInAnswer } from "./rig/client.ts";
import { openCookieJar } from "./rig/cookie-jar.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { openReceiver } from "./rig/receiver.ts";
import { shopEnv } from "./rig/shop-env.ts";

// What somebody can do who has taken a service over: they hold its credentials and see every request
// that it receives. The sets of processes, roles and Kafka users are those of the chart.

const draw = () => randomBytes(24).toString("hex");
const operatorToken = draw();
/** The key descriptor of an account, which tells everybody who has it all payments to the account. */
const descriptorKey =
  "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";

let system: RealSystem;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let merchant: Merchant & { walletId: string; keyId: string };
/** A session of the merchant's that has proven presence just now, in a browser. */
let jar: ReturnType<typeof openCookieJar>;

beforeAll(async () => {
  receiver = await openReceiver();
  const { SETTLEMENT_PROVIDER_SECRETS, ...env } = shopEnv(receiver);
  system = await openRealSystem({
    replicasPerService: 1,
    env: { ...env, INTERNAL_TOKEN: draw(), RATE_LIMIT_PER_IP: "1000:1000" },
    ownEnv: {
      "auth-keys": { OPERATOR_TOKEN: operatorToken },
      "links-api": { OPERATOR_TOKEN: draw() },
      "settlement-listener": { OPERATOR_TOKEN: draw(), SETTLEMENT_PROVIDER_SECRETS },
      "webhook-dispatcher": { OPERATOR_TOKEN: draw() },
    },
  });
  const opened = await openMerchant({ ...system, operatorToken }, "alice");
  const headers = { cookie: opened.cookie };
  const wallet = await call(`${system.baseUrl}/console/api/wallets`, {
    method: "POST",
    headers,
    body: { walletAddress: descriptorKey, tokenId: "btc" },
  });
  expect(wallet.status).toBe(201);
  const keys = await call(`${system.baseUrl}/console/api/api-keys`, { headers });
  const [key] = keys.body["data"] as { id: string }[];
  merchant = { ...opened, walletId: String(wallet.body["id"]), keyId: key?.id ?? "" };
  jar = openCookieJar();
  jar.keep(
    [
      (await signInAnswer({ ...system, operatorToken }, merchant)).headers["set-cookie"] ?? [],
    ].flat(),
  );
});

afterAll(async () => {
  await system?.close();
  await receiver?.close();
});

/** Where a browser of a signed-in person calls each service. */
const pathsOf = {
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
type Taken = keyof typeof pathsOf;

/** Every cookie value that a service receives, under every name that auth-keys or a service reads. */
const replaysOf = (service: Taken): string[] => {
  const headers = pathsOf[service].map((path) => jar.headerFor(path));
  const values = headers.flatMap((header) =>
    header
      .split("; ")
      .filter(Boolean)
      .map((pair) => pair.replace(/^[^=]*=/, "")),
  );
  const names = ["session", "session-links", "session-webhooks"];
  return [
    ...headers,
    ...new Set(values.flatMap((value) => names.map((name) => `${name}=${value}`))),
  ];
};

type Attempt = ["GET" | "POST" | "PATCH" | "DELETE", string, unknown?];

const attemptsAtAuthKeys = (): Attempt[] => [
  ["GET", "/console/api/session"],
  ["GET", "/console/api/wallets"],
  ["POST", "/console/api/wallets", { walletAddress: thiefsAddress, tokenId: "usdc-base" }],
  ["PATCH", `/console/api/wallets/${merchant.walletId}`, { isDefault: true }],
  ["GET", "/console/api/api-keys"],
  ["POST", "/console/api/api-keys", { name: "thief", scopes: ["payment_link:create"] }],
  ["DELETE", `/console/api/api-keys/${merchant.keyId}`],
];

const thiefsAddress = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

describe.each(Object.keys(pathsOf) as Taken[])("whoever has taken %s over", (service) => {
  test("cannot replay a freshly proven session at auth-keys (rule CALLER-40)", async () => {
    const replays = replaysOf(service);
    expect(replays.length).toBeGreaterThan(3);
    const outcomes = new Set<string>();
    for (const cookie of replays) {
      for (const [method, path, body] of attemptsAtAuthKeys()) {
        const { status } = await call(`${system.baseUrl}${path}`, {
          method,
          headers: { cookie },
          body,
        });
        outcomes.add(`${method} ${path.split("/")[3]} ${status}`);
      }
    }
    expect([...outcomes].filter((outcome) => !outcome.endsWith(" 401"))).toEqual([]);
  });

  test("cannot act for the person at the other service (rule CALLER-40)", async () => {
    const attempts = {
      "webhook-dispatcher": [
        ["POST", "/console/api/payment-links", { toAmount: "1" }],
        ["POST", "/console/api/deposits/dep_1/assign", { paymentLinkId: "plink_1" }],
      ],
      "links-api": [
        ["GET", "/console/api/webhook-endpoints"],
        ["POST", "/console/api/webhook-endpoints", { url: "https://receiver.test/x", name: "x" }],
      ],
    } satisfies Record<Taken, Attempt[]>;
    for (const cookie of replaysOf(service)) {
      for (const [method, path, body] of attempts[service] as Attempt[]) {
        const headers = { cookie };
        const { status } = await call(`${system.baseUrl}${path}`, { method, headers, body });
        expect([path, cookie, status]).toEqual([path, cookie, 401]);
      }
    }
  });

  /** The tokens that the service holds, as bearers. */
  const bearers = () =>
    [system.envOf(service)["INTERNAL_TOKEN"], system.envOf(service)["OPERATOR_TOKEN"]].map(
      (token) => ({ authorization: `Bearer ${token}` }),
    );

  test("cannot make a sign-in link or act as an operator at another service (rule OPS-12)", async () => {
    const internalOf = (name: string) =>
      `http://127.0.0.1:${system.replicas.find((one) => one.service === name)?.internalPort}`;
    const attempts = [
      ["auth-keys", "POST", "/internal/sign-in-links", { handle: merchant.handle }],
      ["auth-keys", "POST", "/internal/accounts", { handle: "thief", username: "Thief" }],
      ["auth-keys", "POST", "/internal/accounts/revoke-everything", { handle: merchant.handle }],
      ["auth-keys", "GET", "/internal/audit-log", undefined],
      ["settlement-listener", "POST", "/internal/settlement/resume", { chainId: "8453" }],
    ] as const;
    for (const headers of bearers()) {
      for (const [name, method, path, body] of attempts) {
        const { status } = await call(`${internalOf(name)}${path}`, { method, headers, body });
        expect([path, status]).toEqual([path, 401]);
      }
    }
  });

  test("learns by its questions only whose session its own token is (rules CALLER-40 and CALLER-41)", async () => {
    const [headers = {}] = bearers();
    const found = new Map<string, string>();
    const values = replaysOf(service).flatMap((header) =>
      header.split("; ").map((pair) => pair.replace(/^[^=]*=/, "")),
    );
    for (const value of new Set(values)) {
      for (const asked of ["auth-keys", "links-api", "webhook-dispatcher"]) {
        for (const kind of ["session", "api-key"]) {
          const hash = hashSecret(value).toString("hex");
          const body = { kind, hash, service: asked };
          const url = `${system.internalUrl}/internal/introspect`;
          const answer = await call(url, { method: "POST", headers, body });
          expect(answer.status).toBe(200);
          if (answer.body["found"] === true) found.set(asked, JSON.stringify(answer.body));
        }
      }
    }
    expect([...found.keys()]).toEqual([service]);
    const isDescriptorKnown = found.get(service)?.includes(descriptorKey) ?? false;
    // links-api derives each link's own address from the descriptor.
    expect(isDescriptorKnown).toBe(service === "links-api");
  });

  test("reads and changes nothing in the schemas of the others", async () => {
    const client = new Client({ connectionString: system.envOf(service)["DATABASE_URL"] });
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
        const refused = client.query(statement).then(
          () => "done",
          (error: unknown) => String(error),
        );
        expect([statement, await refused]).toEqual([
          statement,
          expect.stringContaining("permission denied"),
        ]);
      }
    } finally {
      await client.end();
    }
  });
});

/** The topics that tell of wallets, and those that complete a link. */
const forbidden = {
  "webhook-dispatcher": {
    writes: [topics.accounts, topics.paymentLinks, topics.settlements],
    reads: [topics.accounts, topics.settlements],
  },
  "links-api": { writes: [topics.accounts, topics.settlements], reads: [topics.ownerImages] },
} satisfies Record<Taken, unknown>;

const withUsers = testSaslConnection("auth-keys") === undefined ? describe.skip : describe;

withUsers.each(Object.keys(pathsOf) as Taken[])(
  "whoever has taken %s over, with its user at Kafka",
  (service) => {
    const openKafka = () => {
      const connection = testSaslConnection(service);
      if (connection === undefined) throw new Error("there are users");
      const { brokers, sasl } = connection;
      return new Kafka({
        brokers,
        sasl,
        clientId: "thief",
        logLevel: logLevel.NOTHING,
        retry: { retries: 0 },
      });
    };
    const outcomeOf = (asked: Promise<unknown>) =>
      asked.then(
        () => "done",
        (error: unknown) => (error instanceof Error ? error.message : "no error"),
      );
    const denied = /not authorized|does not host/i;

    test("writes no wallet and completes no link (rule OPS-12)", async () => {
      const producer = openKafka().producer();
      await producer.connect();
      try {
        for (const topic of forbidden[service].writes) {
          const name = `${system.topicPrefix}${topic}`;
          const sent = producer.send({ topic: name, messages: [{ key: "k", value: "{}" }] });
          expect([topic, await outcomeOf(sent)]).toEqual([topic, expect.stringMatching(denied)]);
        }
        // Its own topic takes what it sends, so the refusals are not for another reason.
        const own = `${system.topicPrefix}${topicUse[service].writes[0]}`;
        const taken = producer.send({ topic: own, messages: [{ key: "k", value: "{}" }] });
        expect(await outcomeOf(taken)).toBe("done");
      } finally {
        await producer.disconnect();
      }
    });

    test("sees no topic that it does not need (rules CALLER-41, EVENT-10 and OPS-12)", async () => {
      const admin = openKafka().admin();
      await admin.connect();
      try {
        const look = (topic: string) =>
          outcomeOf(admin.fetchTopicOffsets(`${system.topicPrefix}${topic}`));
        for (const topic of forbidden[service].reads) {
          expect([topic, await look(topic)]).toEqual([topic, expect.stringMatching(denied)]);
        }
        // It sees what it needs, so the refusals are not for another reason.
        for (const topic of topicUse[service].hears) {
          expect([topic, await look(topic)]).toEqual([topic, "done"]);
        }
      } finally {
        await admin.disconnect();
      }
    });
  },
);
