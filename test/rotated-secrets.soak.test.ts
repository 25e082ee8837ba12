import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ServiceName } from "@payment-links/deploy/ingress";
import {
  getTestBrokers,
  getTestKafkaPassword,
  getTestSaslConnection,
} from "@payment-links/bus/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import kafkajs from "kafkajs";
import { Client } from "pg";
import { startChild } from "./rig/child.ts";
import { type Merchant, call, createMerchant, sendNotice } from "./rig/client.ts";
import { type RealSystem, buildKafkaEnv, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { findSecrets, dumpSystem } from "./rig/find-leaked-secrets.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";
import { type SteadyLoad, startSteadyLoad } from "./rig/steady-load.ts";

const {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  ResourcePatternTypes,
  logLevel,
} = kafkajs;
const perSecond = 50;
/** A rotation without requests would be a meaningless test. */
const sentCountMin = 100;
const rotationMsMax = 600_000;
const services = [
  "auth-keys",
  "links-api",
  "settlement-listener",
  "webhook-dispatcher",
] as const satisfies readonly ServiceName[];

const generateSecret = () => randomBytes(24).toString("hex");
const [oldServiceToken, newServiceToken, oldOperatorToken, newOperatorToken] = [
  generateSecret(),
  generateSecret(),
  generateSecret(),
  generateSecret(),
];
const [oldSealingKey, newSealingKey] = [1, 2].map(() => randomBytes(32).toString("base64"));
const databasePassword = generateSecret();
/** Roles belong to the whole database server, so this run has its own roles. */
const getSuccessorRole = (service: ServiceName) =>
  `${getSchema(service)}_${oldServiceToken.slice(0, 8)}`;
const getSchema = (service: ServiceName) => service.replaceAll("-", "_");

let system: RealSystem;
let receiver: WebhookReceiver;
let merchant: Merchant;
let load: SteadyLoad;
/** The token that the operator currently uses. */
let operatorToken = oldOperatorToken;
const endpoints: { id: string; secret: string }[] = [];
const unpaidLinkIds: string[] = [];
const paidLinkIds: string[] = [];
let newestLinkId = "";

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startRealSystem({
    replicasPerService: 1,
    env: {
      ...buildShopEnv(receiver),
      INTERNAL_TOKEN: oldServiceToken,
      OPERATOR_TOKEN: oldOperatorToken,
      WEBHOOK_SECRET_KEYS: `first=${oldSealingKey}`,
      RATE_LIMIT_PER_KEY: "10000:10000",
      RATE_LIMIT_PER_IP: "10000:10000",
      // Gives the load balancer time to detect that a process is shutting down, as for an ingress.
      DRAIN_DELAY_SECONDS: "2",
    },
  });
  merchant = await createMerchant({ ...system, operatorToken }, "rotating");
  endpoints.push(await registerEndpoint(system, merchant, "https://receiver.test/0"));
  await createLink();
  load = startSteadyLoad(perSecond, calls);
});

afterAll(async () => {
  await load?.stop();
  const adminUrl = system?.adminUrl;
  const roles = services.map(getSuccessorRole);
  if (adminUrl !== undefined) {
    // The roles' privileges are dropped with the database.
    const dropRolesSql = roles.map((role) => `DROP OWNED BY ${role}; DROP ROLE ${role}`).join("; ");
    await Promise.all(system.replicas.map((replica) => replica.kill()));
    await query(dropRolesSql).catch(() => []);
  }
  await system?.close();
  await receiver?.close();
});

const request = async (
  expectedStatus: number,
  path: string,
  options: Parameters<typeof call>[1] = {},
) => {
  const response = await call(`${system.baseUrl}${path}`, options);
  if (response.status !== expectedStatus)
    throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
};
const keyHeaders = () => ({ headers: { "x-api-key": merchant.apiKey } });
const cookieHeaders = () => ({ headers: { cookie: merchant.cookie } });

const createLink = async (): Promise<void> => {
  const orderRequest = { method: "POST", ...keyHeaders(), body: { toAmount: "5" } } as const;
  const { id } = await request(200, "/v1/payment-link", orderRequest);
  newestLinkId = String(id);
  unpaidLinkIds.push(newestLinkId);
};

const payNextLink = async (): Promise<void> => {
  const id = unpaidLinkIds.shift();
  if (id === undefined) return;
  paidLinkIds.push(id);
  const notice = { id: `${id}-1`, paymentLinkId: id, amount: "5", status: "settled" } as const;
  const status = await sendNotice(system.baseUrl, acmeProvider, notice);
  if (status !== 202) throw new Error(`${status}`);
};

const createSignInLink = async (): Promise<void> => {
  const response = await call(`${system.internalUrl}/internal/sign-in-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}` },
    body: { handle: merchant.handle },
  });
  if (response.status !== 201) throw new Error(`${response.status}`);
};

const fetchPage = async (path: string): Promise<void> => void (await request(200, path));

const calls = [
  { name: "create", run: createLink },
  { name: "retrieve", run: () => fetchPage(`/v1/payment-link/${newestLinkId}`) },
  { name: "checkout", run: () => fetchPage(`/checkout/payment-links/${newestLinkId}`) },
  { name: "list", run: async () => void (await request(200, "/v1/payment-link", keyHeaders())) },
  { name: "pay", run: payNextLink },
  { name: "page", run: () => fetchPage(`/@${merchant.handle}/pay/${newestLinkId}`) },
  { name: "create", run: createLink },
  { name: "retrieve", run: () => fetchPage(`/v1/payment-link/${newestLinkId}`) },
  {
    name: "session",
    run: async () => void (await request(200, "/console/api/session", cookieHeaders())),
  },
  {
    name: "endpoints",
    run: async () => void (await request(200, "/console/api/webhook-endpoints", cookieHeaders())),
  },
  { name: "operator", run: createSignInLink },
];

/** Rolls out all services, one after the other. */
const rollOutAll = async (getOverrides: (service: ServiceName) => Record<string, string>) => {
  for (const service of services) await system.rollOut(service, getOverrides(service));
};

const query = async (text: string): Promise<Record<string, unknown>[]> => {
  const client = new Client({ connectionString: system.adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
};

/** Runs a rotation. Returns the failures that callers see during it. */
const collectFailuresDuring = async (rotate: () => Promise<void>): Promise<readonly string[]> => {
  const [sentCountBefore, failureCountBefore] = [load.sentCount(), load.failures().length];
  const startedAt = performance.now();
  await rotate();
  await waitUntil(
    "enough calls were sent",
    () => load.sentCount() >= sentCountBefore + sentCountMin,
  );
  const perSecond = ((load.sentCount() - sentCountBefore) * 1000) / (performance.now() - startedAt);
  process.stderr.write(`${perSecond.toFixed(0)} calls each second\n`);
  const faults = load.failures().slice(failureCountBefore);
  // Only the logs of the services show why a call failed on their side.
  return faults.length === 0 ? [] : [...faults, ...errorsIn(system.output())];
};

const errorsIn = (output: string): readonly string[] =>
  output.split("\n").filter((line) => line.includes(`"level":"error"`));

/** Runs the migrations Job of one service, as the chart does before its pods. */
const runPrepareJob = async (service: ServiceName, env: Record<string, string>) => {
  const job = startChild(`services/${service}/src/prepare.ts`, {
    MIGRATION_DATABASE_URL: system.adminUrl,
    KAFKA_BROKERS: getTestBrokers().join(","),
    KAFKA_TOPIC_PREFIX: system.topicPrefix,
    ...env,
  });
  await waitUntil("the Job ends", () => !job.isRunning());
  expect([await job.terminate("SIGTERM"), job.output()]).toEqual([
    0,
    expect.stringContaining("prepared"),
  ]);
};

/**
 * Revokes all access of a broker user in this system. Other systems of the test run use the same
 * users with other topic prefixes.
 */
const revokeKafkaAccess = async (user: string) => {
  const admin = new Kafka({ brokers: getTestBrokers(), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.ANY,
    principal: `User:${user}`,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
  });
  const ownResources = resources.filter(({ resourceName }) =>
    resourceName.startsWith(system.topicPrefix),
  );
  const { filterResponses } = await admin.deleteAcls({
    filters: ownResources.flatMap(({ acls, ...resource }) =>
      acls.map((acl) => ({ ...resource, ...acl })),
    ),
  });
  await admin.disconnect();
  expect(filterResponses.flatMap(({ matchingAcls }) => matchingAcls).length).toBeGreaterThan(0);
};

const resealSecrets = async (): Promise<unknown> => {
  const dispatcherReplica = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  const url = `http://127.0.0.1:${dispatcherReplica?.internalPort ?? 0}/internal/webhook-secrets/reseal`;
  const headers = { authorization: `Bearer ${operatorToken}` };
  return (await call(url, { method: "POST", headers })).body;
};

const buildDatabaseUrl = (service: ServiceName): string => {
  const url = new URL(system.adminUrl);
  url.username = getSuccessorRole(service);
  url.password = databasePassword;
  return url.href;
};

describe("under 50 requests per second, no call fails while", () => {
  test(
    "the services' token is rotated: the new one is accepted, then sent, then the only one",
    async () => {
      const values = [
        `${oldServiceToken},${newServiceToken}`,
        `${newServiceToken},${oldServiceToken}`,
        newServiceToken,
      ];
      const failures = await collectFailuresDuring(async () => {
        for (const value of values) await rollOutAll(() => ({ INTERNAL_TOKEN: value }));
      });
      expect(failures).toEqual([]);
      const response = await call(`${system.internalUrl}/internal/introspect`, {
        method: "POST",
        headers: { authorization: `Bearer ${oldServiceToken}` },
        body: { kind: "api-key", hash: "00".repeat(32) },
      });
      expect(response.status).toBe(401);
    },
    rotationMsMax,
  );

  test(
    "the operators' token is rotated: both are accepted, operators switch, then only the new one",
    async () => {
      const failures = await collectFailuresDuring(async () => {
        await rollOutAll(() => ({ OPERATOR_TOKEN: `${newOperatorToken},${oldOperatorToken}` }));
        operatorToken = newOperatorToken;
        await rollOutAll(() => ({ OPERATOR_TOKEN: newOperatorToken }));
      });
      expect(failures).toEqual([]);
      const response = await call(`${system.internalUrl}/internal/sign-in-links`, {
        method: "POST",
        headers: { authorization: `Bearer ${oldOperatorToken}` },
        body: { handle: merchant.handle },
      });
      expect(response.status).toBe(401);
    },
    rotationMsMax,
  );

  test(
    "the sealing key is rotated: the new one opens, then seals, and is the only one after resealing",
    async () => {
      const dispatcher = "webhook-dispatcher";
      const [firstKey, secondKey] = [`first=${oldSealingKey}`, `second=${newSealingKey}`];
      const registerNextEndpoint = async () =>
        endpoints.push(
          await registerEndpoint(system, merchant, `https://receiver.test/${endpoints.length}`),
        );
      const failures = await collectFailuresDuring(async () => {
        for (const keys of [`${firstKey},${secondKey}`, `${secondKey},${firstKey}`]) {
          const rollOut = system.rollOut(dispatcher, { WEBHOOK_SECRET_KEYS: keys });
          await registerNextEndpoint();
          await rollOut;
          await registerNextEndpoint();
        }
        expect(await resealSecrets()).toMatchObject({ keyName: "second", unopenedCount: 0 });
        await system.rollOut(dispatcher, { WEBHOOK_SECRET_KEYS: secondKey });
      });
      expect(failures).toEqual([]);
    },
    rotationMsMax,
  );

  // An external broker has its own users.
  const hasUsers = getTestSaslConnection("any") !== undefined;
  (hasUsers ? test : test.skip)(
    `each service's Kafka password is rotated: another user gets the same access, then the first loses it${hasUsers ? "" : " (no Kafka users)"}`,
    async () => {
      const failures = await collectFailuresDuring(async () => {
        for (const service of services) {
          const user = `${service}-next`;
          await runPrepareJob(service, {
            DATABASE_URL: system.getEnv(service)["DATABASE_URL"] ?? "",
            KAFKA_GRANT_USERNAME: user,
          });
          await system.rollOut(service, buildKafkaEnv(user));
          await revokeKafkaAccess(service);
        }
      });
      expect(failures).toEqual([]);
    },
    rotationMsMax,
  );

  test(
    "each service's database password is rotated: the Job creates another role, then the first is locked",
    async () => {
      const failures = await collectFailuresDuring(async () => {
        for (const service of services) {
          const overrides = { DATABASE_URL: buildDatabaseUrl(service) };
          await runPrepareJob(service, overrides);
          await system.rollOut(service, overrides);
        }
      });
      expect(failures).toEqual([]);
      const remainingSessions = await query(`
        SELECT usename FROM pg_stat_activity
        WHERE datname = current_database() AND usename IN (${services
          .map((service) => `'${getSchema(service)}'`)
          .join()})`);
      expect(remainingSessions).toEqual([]);
    },
    rotationMsMax,
  );
});

describe("after all rotations", () => {
  beforeAll(() => load.stop());

  test("each accepted payment is credited and published once, signed, at the first attempt", async () => {
    expect(paidLinkIds.length).toBeGreaterThan(sentCountMin / calls.length);
    const expectedWebhookCount = paidLinkIds.length * 2;
    const listWebhooks = (path: string) =>
      receiver.received.filter((webhook) => webhook.path === path);
    await waitUntil("all webhooks arrive", () => listWebhooks("/0").length >= expectedWebhookCount);
    expect(new Set(listWebhooks("/0").map(({ body }) => body.id)).size).toBe(expectedWebhookCount);
    for (const [index, { secret }] of endpoints.entries()) {
      const endpointWebhooks = listWebhooks(`/${index}`);
      expect(endpointWebhooks.length).toBeGreaterThan(0);
      expect(endpointWebhooks.filter((webhook) => !isSignedWith(secret, webhook))).toEqual([]);
    }
    const retriedDeliveriesSql = "SELECT * FROM webhook_dispatcher.delivery_log WHERE attempts > 1";
    expect(await query(retriedDeliveriesSql)).toEqual([]);
    const incompleteLinksSql = `
      SELECT id FROM links_api.links
      WHERE status <> 'completed' AND id IN (SELECT link_id FROM links_api.payments)`;
    expect(await query(incompleteLinksSql)).toEqual([]);
  });

  test("no old or new value is in a table, a topic, Redis, a log or a metric", async () => {
    const secrets = Object.fromEntries(
      [
        oldServiceToken,
        newServiceToken,
        oldOperatorToken,
        newOperatorToken,
        oldSealingKey,
        newSealingKey,
        databasePassword,
      ]
        .concat(services.flatMap((name) => [name, `${name}-next`]).map(getTestKafkaPassword))
        .map((value, index) => [`value ${index}`, value ?? ""]),
    );
    expect(findSecrets(secrets, await dumpSystem(system))).toEqual([]);
  });
});
