import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { ensureTopics, prefixTopics } from "@payment-links/bus";
import { getTestBrokers } from "@payment-links/bus/testing";
import { topicSettings } from "@payment-links/contracts";
import { createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { projectRoot } from "./rig/child.ts";
import {
  type Merchant,
  type SettlementNotice,
  call,
  createMerchant,
  sendNotice,
} from "./rig/client.ts";
import { type SchemaCopy, copySchema } from "./rig/copy-schema.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";

const run = promisify(execFile);

const paymentCount = Number(process.env["PAYMENTS"] ?? 40);
const noticesAtOnce = 20;
const waitMsMax = 180_000 + 200 * paymentCount;
const testMsMax = 5 * waitMsMax;

const schemas = ["auth_keys", "links_api", "settlement_listener", "webhook_dispatcher"] as const;
const allPositionsSql = schemas
  .map((schema) => `SELECT * FROM ${schema}.positions`)
  .join(" UNION ALL ");
const topicNames = Object.keys(topicSettings);
type Schema = (typeof schemas)[number];

const restoredSchemaSets = [...schemas.map((schema): readonly Schema[] => [schema]), schemas];

describe(`${paymentCount} payments survive a disaster with the README's commands when`, () => {
  let system: RealSystem;
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  let admin: Client;
  const kafka = new Kafka({ brokers: getTestBrokers(), logLevel: logLevel.NOTHING }).admin();

  beforeAll(async () => {
    receiver = await startReceiver();
    system = await startRealSystem({
      replicasPerService: 1,
      env: {
        ...buildShopEnv(receiver),
        RATE_LIMIT_PER_IP: "10000:10000",
        RATE_LIMIT_PER_KEY: "10000:10000",
      },
    });
    admin = new Client({ connectionString: system.adminUrl });
    await Promise.all([admin.connect(), kafka.connect()]);
    merchant = await createMerchant(system, "restored");
    await registerEndpoint(system, merchant, "https://receiver.test/hook");
  });

  afterAll(async () => {
    await Promise.all([admin?.end(), kafka.disconnect()]);
    await system?.close();
    await receiver?.close();
  });

  /** Creates links with the amount 3, and notices of two payments of 1 and 2 for each link. */
  const createLinksWithNotices = async (count: number): Promise<SettlementNotice[][]> => {
    const links: SettlementNotice[][] = [];
    for (let index = 0; index < count; index += 1) {
      const created = await call(`${system.baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body: { toAmount: "3" },
      });
      const paymentLinkId = String(created.body["id"]);
      const status = "settled" as const;
      links.push(
        ["1", "2"].map((amount) => ({
          id: `${paymentLinkId}-${amount}`,
          paymentLinkId,
          amount,
          status,
          occurredAt: new Date().toISOString(),
        })),
      );
    }
    return links;
  };

  const sendNotices = async (notices: readonly SettlementNotice[]): Promise<void> => {
    for (let offset = 0; offset < notices.length; offset += noticesAtOnce) {
      const statuses = notices
        .slice(offset, offset + noticesAtOnce)
        .map((notice) => sendNotice(system.baseUrl, acmeProvider, notice));
      expect(new Set(await Promise.all(statuses))).toEqual(new Set([202]));
    }
  };

  const getReplica = (schema: Schema) => {
    const replica = system.replicas.find(({ service }) => service === schema.replace("_", "-"));
    if (replica === undefined) throw new Error(`no replica uses the schema ${schema}`);
    return replica;
  };

  const isEmpty = async (table: string): Promise<boolean> =>
    (await admin.query(`SELECT FROM ${table} LIMIT 1`)).rowCount === 0;

  const isTopicConsumed = async (topic: string): Promise<boolean> => {
    const endOffsets = await kafka.fetchTopicOffsets(system.topicPrefix + topic);
    const { rowCount } = await admin.query(
      `SELECT FROM (${allPositionsSql}) AS positions
       JOIN unnest($2::int[], $3::int8[]) AS log (partition, high) USING (partition)
       WHERE topic = $1 AND next_offset <> high`,
      [topic, endOffsets.map(({ partition }) => partition), endOffsets.map(({ high }) => high)],
    );
    return rowCount === 0;
  };

  /** Returns true when no consumer's position is beyond the end of its log. */
  const haveConsumersRewound = async (): Promise<boolean> => {
    const { rows } = await admin.query<{ topic: string; partition: number; next: string }>(
      `SELECT topic, partition, next_offset AS next FROM (${allPositionsSql}) AS positions`,
    );
    const endOffsetsByTopic = new Map(
      await Promise.all(
        topicNames.map(
          async (topic) =>
            [topic, await kafka.fetchTopicOffsets(system.topicPrefix + topic)] as const,
        ),
      ),
    );
    return rows.every(({ next, partition, topic }) => {
      const endOffset = endOffsetsByTopic
        .get(topic)
        ?.find((entry) => entry.partition === partition);
      return endOffset !== undefined && BigInt(next) <= BigInt(endOffset.high);
    });
  };

  /**
   * Checks the services in the order in which a payment passes through them. An event that leaves
   * one service during the check is then detected at the next service.
   */
  const isIdle = async (): Promise<boolean> =>
    (await isEmpty("auth_keys.outbox")) &&
    (await isEmpty("settlement_listener.outbox")) &&
    (await isTopicConsumed("accounts.v1")) &&
    (await isTopicConsumed("settlements.v1")) &&
    (await isEmpty("links_api.outbox")) &&
    (await isTopicConsumed("payment-links.v1")) &&
    (await isEmpty("webhook_dispatcher.deliveries"));

  /** Waits until all events are published and consumed and all webhooks are delivered. */
  const waitUntilIdle = (description: string) =>
    waitUntil(`all work is finished ${description}`, isIdle, waitMsMax);

  /** Runs the commands of the docs' page *Operations* as an operator would. */
  const republishAll = async (): Promise<void> => {
    const page = await readFile(join(projectRoot, "packages/docs/content/operations.md"), "utf8");
    const [, restoreSection = ""] = page.split("\n## Backup and restore\n");
    const commands = [
      ...restoreSection.matchAll(/`(npm run --silent admin -- republish [a-z-]+)`/g),
    ];
    expect(commands).toHaveLength(3);
    const getInternalUrl = (schema: Schema) =>
      `http://127.0.0.1:${getReplica(schema).internalPort}`;
    for (const [, command = ""] of commands) {
      const { stdout } = await run("bash", ["-c", command], {
        cwd: projectRoot,
        env: {
          ...process.env,
          AUTH_KEYS_INTERNAL_URL: getInternalUrl("auth_keys"),
          LINKS_API_INTERNAL_URL: getInternalUrl("links_api"),
          SETTLEMENT_LISTENER_INTERNAL_URL: getInternalUrl("settlement_listener"),
          WEBHOOK_DISPATCHER_INTERNAL_URL: getInternalUrl("webhook_dispatcher"),
        },
      });
      expect(JSON.parse(stdout)).toMatchObject({ endedAt: expect.any(String) });
    }
  };

  /**
   * Expects each link to be paid in full, and each of its events to have arrived with a single ID.
   */
  const expectLinksPaidOnce = async (links: readonly SettlementNotice[][]): Promise<void> => {
    const ids = links.flatMap(([firstNotice]) => firstNotice?.paymentLinkId ?? []);
    for (const id of ids) {
      const { body } = await call(`${system.baseUrl}/v1/payment-link/${id}`);
      expect([body["status"], body["receivedAmount"]]).toEqual(["completed", "3"]);
    }
    const webhooksByEvent = Map.groupBy(
      receiver.received.filter(({ body }) => ids.includes(String(body.data["paymentLinkId"]))),
      ({ body: { type, data } }) =>
        [type, data["paymentLinkId"], data.transaction?.["id"] ?? ""].join(" "),
    );
    expect(webhooksByEvent.size).toBe(3 * ids.length);
    for (const webhooks of webhooksByEvent.values()) {
      expect(new Set(webhooks.map(({ body }) => body.id)).size).toBe(1);
    }
    const { rows } = await admin.query<{ count: number }>(
      schemas.map((schema) => `SELECT count(*)::int FROM ${schema}.dead_letters`).join(" UNION "),
    );
    expect(rows).toEqual([{ count: 0 }]);
  };

  /** Creates an account with a link that no other test uses. */
  const createOwner = async (handle: string) => {
    const owner = await createMerchant(system, handle);
    const { body } = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": owner.apiKey },
      body: { toAmount: "1" },
    });
    return { ...owner, linkId: String(body["id"]) };
  };

  const changeHandle = async ({ cookie }: Merchant, handle: string): Promise<void> => {
    const path = `${system.baseUrl}/console/api/account`;
    const response = await call(path, { method: "PATCH", headers: { cookie }, body: { handle } });
    expect(response.body).toMatchObject({ handle });
  };

  /**
   * Returns the handle in a link's page URL, and the reason why the link does not accept payments.
   */
  const readCheckoutState = async (linkId: string) => {
    const { body } = await call(`${system.baseUrl}/checkout/payment-links/${linkId}`);
    return { handle: /@(\w+)\/pay/.exec(String(body["url"]))?.[1], reason: body["reason"] };
  };

  const suspend = async ({ userId }: Merchant): Promise<void> => {
    const path = `${system.internalUrl}/internal/accounts/suspend`;
    const response = await call(path, { method: "POST", body: { userId } });
    expect(response.body).toMatchObject({ isSuspended: true });
  };

  /**
   * Makes the lost events older than one minute. The documentation asks the operator to wait this
   * long.
   */
  const agePublishedState = async (): Promise<void> => {
    for (const table of ["links_api.accounts", "webhook_dispatcher.owner_images"]) {
      await admin.query(`UPDATE ${table} SET told_at = told_at - interval '2 minutes'`);
    }
  };

  const countDuplicates = () =>
    receiver.received.length - new Set(receiver.received.map(({ body }) => body.id)).size;

  test.each(
    restoredSchemaSets.map((restoredSchemas, index) => ({
      restoredSchemas,
      index,
      names: restoredSchemas.join(", "),
    })),
  )(
    "$names are restored to a state before they settled",
    async ({ restoredSchemas, index }) => {
      const [originalHandle, newHandle] = [`alice${index}`, `alicia${index}`];
      const owner = await createOwner(originalHandle);
      const links = await createLinksWithNotices(paymentCount / 2);
      // Some links are partly paid when the dump is taken.
      await sendNotices(
        links.slice(0, links.length / 2).flatMap(([firstNotice]) => firstNotice ?? []),
      );
      await waitUntilIdle("before the dump");
      const schemaCopies: SchemaCopy[] = [];
      for (const schema of restoredSchemas) schemaCopies.push(await copySchema(admin, schema));
      await changeHandle(owner, newHandle);
      await sendNotices(links.flat());
      await waitUntilIdle("before the disaster");
      await expectLinksPaidOnce(links);
      expect(await readCheckoutState(owner.linkId)).toMatchObject({ handle: newHandle });
      const duplicatesBefore = countDuplicates();

      const replicas = restoredSchemas.map(getReplica);
      await Promise.all(replicas.map((replica) => replica.kill()));
      for (const schemaCopy of schemaCopies) await schemaCopy.restore();
      await Promise.all(replicas.map((replica) => replica.start()));
      await waitUntil(
        "the lost records are consumed again",
        () => isTopicConsumed("accounts.v1"),
        waitMsMax,
      );
      await agePublishedState();
      await republishAll();
      // The last documented step: providers resend the notices that they have sent since the dump.
      await sendNotices(links.flat());
      await waitUntilIdle("after the restore");
      await expectLinksPaidOnce(links);
      if (!restoredSchemas.includes("webhook_dispatcher"))
        expect(countDuplicates()).toBe(duplicatesBefore);
      const handle = restoredSchemas.includes("auth_keys") ? originalHandle : newHandle;
      expect(await readCheckoutState(owner.linkId)).toMatchObject({ handle });
      await suspend(owner);
      await waitUntilIdle("after an account is suspended");
      expect(await readCheckoutState(owner.linkId)).toEqual({
        handle,
        reason: "account_suspended",
      });
      const laterLinks = await createLinksWithNotices(2);
      await sendNotices(laterLinks.flat());
      await waitUntilIdle("after later payments");
      await expectLinksPaidOnce(laterLinks);
    },
    testMsMax,
  );

  test(
    "Kafka loses its topics before links-api has received the payments",
    async () => {
      const links = await createLinksWithNotices(paymentCount / 2);
      await sendNotices(
        links.slice(0, links.length / 2).flatMap(([firstNotice]) => firstNotice ?? []),
      );
      await waitUntilIdle("before the disaster");
      await getReplica("links_api").kill();
      await sendNotices(links.flat());
      await waitUntil("all settlements are published", async () => {
        const { rowCount } = await admin.query("SELECT FROM settlement_listener.outbox");
        return rowCount === 0;
      });
      await Promise.all(
        system.replicas
          .filter(({ service }) => service !== "links-api")
          .map((replica) => replica.kill()),
      );
      const topics = topicNames.map((topic) => system.topicPrefix + topic);
      await kafka.deleteTopics({ topics });
      await waitUntil("the topics are deleted", async () => {
        const existingTopics = await kafka.listTopics();
        return !topics.some((topic) => existingTopics.includes(topic));
      });
      await ensureTopics({
        brokers: getTestBrokers(),
        clientId: "tests",
        log: createLog({ service: "tests", level: "warn" }),
        replicationFactor: 1,
        topics: prefixTopics(topicSettings, system.topicPrefix),
      });
      await Promise.all(system.replicas.map((replica) => replica.start()));
      await waitUntil("each consumer has rewound", haveConsumersRewound, waitMsMax);
      await republishAll();
      await waitUntilIdle("after the restart");
      await expectLinksPaidOnce(links);
      expect(system.output()).toContain("the log lacks the next offset");
    },
    testMsMax,
  );
});
