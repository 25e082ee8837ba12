import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Merchant, call, openMerchant, signInAnswer } from "./rig/client.ts";
import { openCookieJar } from "./rig/cookie-jar.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { openReceiver } from "./rig/receiver.ts";
import { shopEnv } from "./rig/shop-env.ts";

// What somebody can do who has taken a service over: they hold its credentials and see every request
// that it receives. The sets of processes, roles and Kafka users are those of the chart.

const internalToken = randomBytes(24).toString("hex");
const operatorToken = randomBytes(24).toString("hex");
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
  const tokens = { INTERNAL_TOKEN: internalToken, OPERATOR_TOKEN: operatorToken };
  system = await openRealSystem({
    replicasPerService: 1,
    env: { ...shopEnv(receiver), ...tokens, RATE_LIMIT_PER_IP: "1000:1000" },
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
});
