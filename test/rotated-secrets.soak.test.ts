import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ServiceName } from "@payment-links/deploy/ingress";
import { testBrokers, testKafkaPassword, testSaslConnection } from "@payment-links/bus/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import kafkajs from "kafkajs";
import { Client } from "pg";
import { startChild } from "./rig/child.ts";
import { type Merchant, call, openMerchant, sendNotice } from "./rig/client.ts";
import { type RealSystem, kafkaEnvOf, openRealSystem } from "./rig/real-system.ts";
import { type Receiver, isSignedWith, openReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { findSecrets, dumpSystem } from "./rig/secret-hunt.ts";
import { acme, shopEnv } from "./rig/shop-env.ts";
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
/** A rotation that nobody was there for would show nothing. */
const sentMin = 100;
const rotationMsMax = 600_000;
const services = [
  "auth-keys",
  "links-api",
  "settlement-listener",
  "webhook-dispatcher",
] as const satisfies readonly ServiceName[];

const fresh = () => randomBytes(24).toString("hex");
const [services1, services2, operators1, operators2] = [fresh(), fresh(), fresh(), fresh()];
const [seal1, seal2] = [1, 2].map(() => randomBytes(32).toString("base64"));
const databasePassword = fresh();
/** Roles belong to the whole server, so this run has its own. */
const successorOf = (service: ServiceName) => `${schemaOf(service)}_${services1.slice(0, 8)}`;
const schemaOf = (service: ServiceName) => service.replaceAll("-", "_");

let system: RealSystem;
let receiver: Receiver;
let merchant: Merchant;
let load: SteadyLoad;
/** With which the operator calls. */
let operatorToken = operators1;
const endpoints: { id: string; secret: string }[] = [];
const unpaid: string[] = [];
const paid: string[] = [];
let newest = "";

beforeAll(async () => {
  receiver = await openReceiver();
  system = await openRealSystem({
    replicasPerService: 1,
    env: {
      ...shopEnv(receiver),
      INTERNAL_TOKEN: services1,
      OPERATOR_TOKEN: operators1,
      WEBHOOK_SECRET_KEYS: `first=${seal1}`,
      RATE_LIMIT_PER_KEY: "10000:10000",
      RATE_LIMIT_PER_IP: "10000:10000",
      // In which the balancer notices, as an ingress does.
      DRAIN_DELAY_SECONDS: "2",
    },
  });
  merchant = await openMerchant({ ...system, operatorToken }, "rotating");
  endpoints.push(await registerEndpoint(system, merchant, "https://receiver.test/0"));
  await createLink();
  load = startSteadyLoad(perSecond, turns);
});

afterAll(async () => {
  await load?.stop();
  const adminUrl = system?.adminUrl;
  const roles = services.map(successorOf);
  if (adminUrl !== undefined) {
    // Their rights go with the database.
    const owned = roles.map((role) => `DROP OWNED BY ${role}; DROP ROLE ${role}`).join("; ");
    await Promise.all(system.replicas.map((replica) => replica.kill()));
    await query(owned).catch(() => []);
  }
  await system?.close();
  await receiver?.close();
});

const ask = async (expected: number, path: string, more: Parameters<typeof call>[1] = {}) => {
  const answer = await call(`${system.baseUrl}${path}`, more);
  if (answer.status !== expected)
    throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const withKey = () => ({ headers: { "x-api-key": merchant.apiKey } });
const withCookie = () => ({ headers: { cookie: merchant.cookie } });

const createLink = async (): Promise<void> => {
  const order = { method: "POST", ...withKey(), body: { toAmount: "5" } } as const;
  const { id } = await ask(200, "/v1/payment-link", order);
  newest = String(id);
  unpaid.push(newest);
};

const payLink = async (): Promise<void> => {
  const id = unpaid.shift();
  if (id === undefined) return;
  paid.push(id);
  const notice = { id: `${id}-1`, paymentLinkId: id, amount: "5", status: "settled" } as const;
  const status = await sendNotice(system.baseUrl, acme, notice);
  if (status !== 202) throw new Error(`${status}`);
};

const signInLink = async (): Promise<void> => {
  const answer = await call(`${system.internalUrl}/internal/sign-in-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}` },
    body: { handle: merchant.handle },
  });
  if (answer.status !== 201) throw new Error(`${answer.status}`);
};

const openPage = async (path: string): Promise<void> => void (await ask(200, path));

const turns = [
  { name: "create", take: createLink },
  { name: "retrieve", take: () => openPage(`/v1/payment-link/${newest}`) },
  { name: "checkout", take: () => openPage(`/checkout/payment-links/${newest}`) },
  { name: "list", take: async () => void (await ask(200, "/v1/payment-link", withKey())) },
  { name: "pay", take: payLink },
  { name: "page", take: () => openPage(`/@${merchant.handle}/pay/${newest}`) },
  { name: "create", take: createLink },
  { name: "retrieve", take: () => openPage(`/v1/payment-link/${newest}`) },
  {
    name: "session",
    take: async () => void (await ask(200, "/console/api/session", withCookie())),
  },
  {
    name: "endpoints",
    take: async () => void (await ask(200, "/console/api/webhook-endpoints", withCookie())),
  },
  { name: "operator", take: signInLink },
];

/** Rolls every service out, one after the other. */
const rollAll = async (change: (service: ServiceName) => Record<string, string>) => {
  for (const service of services) await system.roll(service, change(service));
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

/** Runs a rotation, and answers the faults that callers met meanwhile. */
const faultsDuring = async (rotate: () => Promise<void>): Promise<readonly string[]> => {
  const [sentBefore, faultsBefore] = [load.sentCount(), load.faults().length];
  const startedAt = performance.now();
  await rotate();
  await waitUntil("somebody called", () => load.sentCount() >= sentBefore + sentMin);
  const perSecond = ((load.sentCount() - sentBefore) * 1000) / (performance.now() - startedAt);
  process.stderr.write(`${perSecond.toFixed(0)} calls each second\n`);
  const faults = load.faults().slice(faultsBefore);
  // Only the services know why a call failed on their side.
  return faults.length === 0 ? [] : [...faults, ...errorsIn(system.output())];
};

const errorsIn = (output: string): readonly string[] =>
  output.split("\n").filter((line) => line.includes(`"level":"error"`));

/** The migrations Job of one service, as the chart runs it before its pods. */
const prepare = async (service: ServiceName, env: Record<string, string>) => {
  const job = startChild(`services/${service}/src/prepare.ts`, {
    MIGRATION_DATABASE_URL: system.adminUrl,
    KAFKA_BROKERS: testBrokers().join(","),
    KAFKA_TOPIC_PREFIX: system.topicPrefix,
    ...env,
  });
  await waitUntil("the Job ends", () => !job.isRunning());
  expect([await job.end("SIGTERM"), job.output()]).toEqual([
    0,
    expect.stringContaining("prepared"),
  ]);
};

/**
 * Takes away all that a user of the brokers was granted in this system: others of the run have the same
 * users, under prefixes of their own.
 */
const shutOut = async (user: string) => {
  const admin = new Kafka({ brokers: testBrokers(), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.ANY,
    principal: `User:${user}`,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
  });
  const own = resources.filter(({ resourceName }) => resourceName.startsWith(system.topicPrefix));
  const { filterResponses } = await admin.deleteAcls({
    filters: own.flatMap(({ acls, ...resource }) => acls.map((acl) => ({ ...resource, ...acl }))),
  });
  await admin.disconnect();
  expect(filterResponses.flatMap(({ matchingAcls }) => matchingAcls).length).toBeGreaterThan(0);
};

const reseal = async (): Promise<unknown> => {
  const found = system.replicas.find(({ service }) => service === "webhook-dispatcher");
  const url = `http://127.0.0.1:${found?.internalPort ?? 0}/internal/webhook-secrets/reseal`;
  const headers = { authorization: `Bearer ${operatorToken}` };
  return (await call(url, { method: "POST", headers })).body;
};

const databaseUrlOf = (service: ServiceName): string => {
  const url = new URL(system.adminUrl);
  url.username = successorOf(service);
  url.password = databasePassword;
  return url.href;
};

describe("under 50 requests each second no call fails while", () => {
  test(
    "the services' token is rotated: the new one accepted, sent, then alone",
    async () => {
      const values = [`${services1},${services2}`, `${services2},${services1}`, services2];
      const faults = await faultsDuring(async () => {
        for (const value of values) await rollAll(() => ({ INTERNAL_TOKEN: value }));
      });
      expect(faults).toEqual([]);
      const answer = await call(`${system.internalUrl}/internal/introspect`, {
        method: "POST",
        headers: { authorization: `Bearer ${services1}` },
        body: { kind: "api-key", hash: "00".repeat(32) },
      });
      expect(answer.status).toBe(401);
    },
    rotationMsMax,
  );

  test(
    "the operators' token is rotated: both accepted, the operators change, then the new one alone",
    async () => {
      const faults = await faultsDuring(async () => {
        await rollAll(() => ({ OPERATOR_TOKEN: `${operators2},${operators1}` }));
        operatorToken = operators2;
        await rollAll(() => ({ OPERATOR_TOKEN: operators2 }));
      });
      expect(faults).toEqual([]);
      const answer = await call(`${system.internalUrl}/internal/sign-in-links`, {
        method: "POST",
        headers: { authorization: `Bearer ${operators1}` },
        body: { handle: merchant.handle },
      });
      expect(answer.status).toBe(401);
    },
    rotationMsMax,
  );

  test(
    "the sealing key is rotated: the new one opens, seals, and after the resealing is alone",
    async () => {
      const dispatcher = "webhook-dispatcher";
      const [first, second] = [`first=${seal1}`, `second=${seal2}`];
      const register = async () =>
        endpoints.push(
          await registerEndpoint(system, merchant, `https://receiver.test/${endpoints.length}`),
        );
      const faults = await faultsDuring(async () => {
        for (const keys of [`${first},${second}`, `${second},${first}`]) {
          const rolled = system.roll(dispatcher, { WEBHOOK_SECRET_KEYS: keys });
          await register();
          await rolled;
          await register();
        }
        expect(await reseal()).toMatchObject({ keyName: "second", unopenedCount: 0 });
        await system.roll(dispatcher, { WEBHOOK_SECRET_KEYS: second });
      });
      expect(faults).toEqual([]);
    },
    rotationMsMax,
  );

  // A broker that is given has users of its own.
  const hasUsers = testSaslConnection("any") !== undefined;
  (hasUsers ? test : test.skip)(
    `each service's password at Kafka is rotated: another user, granted the same, then the first is shut${hasUsers ? "" : " (no users at Kafka)"}`,
    async () => {
      const faults = await faultsDuring(async () => {
        for (const service of services) {
          const user = `${service}-next`;
          await prepare(service, {
            DATABASE_URL: system.envOf(service)["DATABASE_URL"] ?? "",
            KAFKA_GRANT_USERNAME: user,
          });
          await system.roll(service, kafkaEnvOf(user));
          await shutOut(service);
        }
      });
      expect(faults).toEqual([]);
    },
    rotationMsMax,
  );

  test(
    "each service's database password is rotated: another role, made by the Job, then the first is shut",
    async () => {
      const faults = await faultsDuring(async () => {
        for (const service of services) {
          const change = { DATABASE_URL: databaseUrlOf(service) };
          await prepare(service, change);
          await system.roll(service, change);
        }
      });
      expect(faults).toEqual([]);
      const left = await query(`
        SELECT usename FROM pg_stat_activity
        WHERE datname = current_database() AND usename IN (${services
          .map((service) => `'${schemaOf(service)}'`)
          .join()})`);
      expect(left).toEqual([]);
    },
    rotationMsMax,
  );
});

describe("after all of that", () => {
  beforeAll(() => load.stop());

  test("each payment that was accepted is credited, and told once, signed, at the first attempt", async () => {
    expect(paid.length).toBeGreaterThan(sentMin / turns.length);
    const wanted = paid.length * 2;
    const at = (path: string) => receiver.received.filter((one) => one.path === path);
    await waitUntil("every webhook", () => at("/0").length >= wanted);
    expect(new Set(at("/0").map(({ body }) => body.id)).size).toBe(wanted);
    for (const [index, { secret }] of endpoints.entries()) {
      const told = at(`/${index}`);
      expect(told.length).toBeGreaterThan(0);
      expect(told.filter((one) => !isSignedWith(secret, one))).toEqual([]);
    }
    const again = "SELECT * FROM webhook_dispatcher.delivery_log WHERE attempts > 1";
    expect(await query(again)).toEqual([]);
    const open = `
      SELECT id FROM links_api.links
      WHERE status <> 'completed' AND id IN (SELECT link_id FROM links_api.payments)`;
    expect(await query(open)).toEqual([]);
  });

  test("no value, old or new, is in a table, a topic, Redis, a log or a metric", async () => {
    const secrets = Object.fromEntries(
      [services1, services2, operators1, operators2, seal1, seal2, databasePassword]
        .concat(services.flatMap((name) => [name, `${name}-next`]).map(testKafkaPassword))
        .map((value, index) => [`value ${index}`, value ?? ""]),
    );
    expect(findSecrets(secrets, await dumpSystem(system))).toEqual([]);
  });
});
