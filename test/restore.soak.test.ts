import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { ensureTopics, prefixTopics } from "@payment-links/bus";
import { testBrokers } from "@payment-links/bus/testing";
import { topicSettings } from "@payment-links/contracts";
import { openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { projectRoot } from "./rig/child.ts";
import { type Merchant, type Notice, call, openMerchant, sendNotice } from "./rig/client.ts";
import { type SchemaCopy, copySchema } from "./rig/copy-schema.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { type Receiver, openReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acme, shopEnv } from "./rig/shop-env.ts";

const run = promisify(execFile);

const paymentCount = Number(process.env["PAYMENTS"] ?? 40);
const noticesAtOnce = 20;
const waitMsMax = 180_000 + 200 * paymentCount;
const testMsMax = 5 * waitMsMax;

const schemas = ["auth_keys", "links_api", "settlement_listener", "webhook_dispatcher"] as const;
const positionsOfAll = schemas
  .map((schema) => `SELECT * FROM ${schema}.positions`)
  .join(" UNION ALL ");
const topicNames = Object.keys(topicSettings);
type Schema = (typeof schemas)[number];

const disasters = [...schemas.map((schema): readonly Schema[] => [schema]), schemas];

describe(`${paymentCount} payments around a disaster, by the README's own words`, () => {
  let system: RealSystem;
  let receiver: Receiver;
  let merchant: Merchant;
  let admin: Client;
  const kafka = new Kafka({ brokers: testBrokers(), logLevel: logLevel.NOTHING }).admin();

  beforeAll(async () => {
    receiver = await openReceiver();
    system = await openRealSystem({
      replicasPerService: 1,
      env: {
        ...shopEnv(receiver),
        RATE_LIMIT_PER_IP: "10000:10000",
        RATE_LIMIT_PER_KEY: "10000:10000",
      },
    });
    admin = new Client({ connectionString: system.adminUrl });
    await Promise.all([admin.connect(), kafka.connect()]);
    merchant = await openMerchant(system, "restored");
    await registerEndpoint(system, merchant, "https://receiver.test/hook");
  });

  afterAll(async () => {
    await Promise.all([admin?.end(), kafka.disconnect()]);
    await system?.close();
    await receiver?.close();
  });

  /** Links of 3 that are paid by 1 and 2, each payment a notice. */
  const openLinks = async (count: number): Promise<Notice[][]> => {
    const links: Notice[][] = [];
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

  const settle = async (notices: readonly Notice[]): Promise<void> => {
    for (let at = 0; at < notices.length; at += noticesAtOnce) {
      const sent = notices
        .slice(at, at + noticesAtOnce)
        .map((notice) => sendNotice(system.baseUrl, acme, notice));
      expect(new Set(await Promise.all(sent))).toEqual(new Set([202]));
    }
  };

  const replicaOf = (schema: Schema) => {
    const found = system.replicas.find(({ service }) => service === schema.replace("_", "-"));
    if (found === undefined) throw new Error(`nobody runs on ${schema}`);
    return found;
  };

  const isEmpty = async (table: string): Promise<boolean> =>
    (await admin.query(`SELECT FROM ${table} LIMIT 1`)).rowCount === 0;

  const isHeard = async (topic: string): Promise<boolean> => {
    const ends = await kafka.fetchTopicOffsets(system.topicPrefix + topic);
    const { rowCount } = await admin.query(
      `SELECT FROM (${positionsOfAll}) AS positions
       JOIN unnest($2::int[], $3::int8[]) AS log (partition, high) USING (partition)
       WHERE topic = $1 AND next_offset <> high`,
      [topic, ends.map(({ partition }) => partition), ends.map(({ high }) => high)],
    );
    return rowCount === 0;
  };

  /** Whether no consumer's position lies behind the end of its log any more. */
  const haveNoticed = async (): Promise<boolean> => {
    const { rows } = await admin.query<{ topic: string; partition: number; next: string }>(
      `SELECT topic, partition, next_offset AS next FROM (${positionsOfAll}) AS positions`,
    );
    const ends = new Map(
      await Promise.all(
        topicNames.map(
          async (topic) =>
            [topic, await kafka.fetchTopicOffsets(system.topicPrefix + topic)] as const,
        ),
      ),
    );
    return rows.every(({ next, partition, topic }) => {
      const log = ends.get(topic)?.find((one) => one.partition === partition);
      return log !== undefined && BigInt(next) <= BigInt(log.high);
    });
  };

  /** Looks along the way of the money, so that what has left one place is seen at the next. */
  const isAtRest = async (): Promise<boolean> =>
    (await isEmpty("auth_keys.outbox")) &&
    (await isEmpty("settlement_listener.outbox")) &&
    (await isHeard("accounts.v1")) &&
    (await isHeard("settlements.v1")) &&
    (await isEmpty("links_api.outbox")) &&
    (await isHeard("payment-links.v1")) &&
    (await isEmpty("webhook_dispatcher.deliveries"));

  /** Ends once nothing is under way: all is sent, heard and delivered. */
  const comesToRest = (what: string) => waitUntil(`${what}: all is at rest`, isAtRest, waitMsMax);

  /** Gives the commands of the README, as an operator would. */
  const tellAllAgain = async (): Promise<void> => {
    const readme = await readFile(join(projectRoot, "README.md"), "utf8");
    const [, restoring = ""] = readme.split("\n## Backup and restore\n");
    const commands = [...restoring.matchAll(/`(npm run --silent admin -- republish [a-z-]+)`/g)];
    expect(commands).toHaveLength(3);
    const urlOf = (schema: Schema) => `http://127.0.0.1:${replicaOf(schema).internalPort}`;
    for (const [, command = ""] of commands) {
      const { stdout } = await run("bash", ["-c", command], {
        cwd: projectRoot,
        env: {
          ...process.env,
          AUTH_KEYS_INTERNAL_URL: urlOf("auth_keys"),
          LINKS_API_INTERNAL_URL: urlOf("links_api"),
          SETTLEMENT_LISTENER_INTERNAL_URL: urlOf("settlement_listener"),
          WEBHOOK_DISPATCHER_INTERNAL_URL: urlOf("webhook_dispatcher"),
        },
      });
      expect(JSON.parse(stdout)).toMatchObject({ endedAt: expect.any(String) });
    }
  };

  /** Each link is paid in full, and each of its facts has come under one id. */
  const isAllRight = async (links: readonly Notice[][]): Promise<void> => {
    const ids = links.flatMap(([first]) => first?.paymentLinkId ?? []);
    for (const id of ids) {
      const { body } = await call(`${system.baseUrl}/v1/payment-link/${id}`);
      expect([body["status"], body["receivedAmount"]]).toEqual(["completed", "3"]);
    }
    const facts = Map.groupBy(
      receiver.received.filter(({ body }) => ids.includes(String(body.data["paymentLinkId"]))),
      ({ body: { type, data } }) =>
        [type, data["paymentLinkId"], data.transaction?.["id"] ?? ""].join(" "),
    );
    expect(facts.size).toBe(3 * ids.length);
    for (const webhooks of facts.values()) {
      expect(new Set(webhooks.map(({ body }) => body.id)).size).toBe(1);
    }
    const { rows } = await admin.query<{ count: number }>(
      schemas.map((schema) => `SELECT count(*)::int FROM ${schema}.dead_letters`).join(" UNION "),
    );
    expect(rows).toEqual([{ count: 0 }]);
  };

  /** An account with a link, of which nobody but this test knows. */
  const openOwner = async (handle: string) => {
    const owner = await openMerchant(system, handle);
    const { body } = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": owner.apiKey },
      body: { toAmount: "1" },
    });
    return { ...owner, linkId: String(body["id"]) };
  };

  const giveHandle = async ({ cookie }: Merchant, handle: string): Promise<void> => {
    const path = `${system.baseUrl}/console/api/account`;
    const answer = await call(path, { method: "PATCH", headers: { cookie }, body: { handle } });
    expect(answer.body).toMatchObject({ handle });
  };

  /** Under which handle a link's page stands, and why it takes no payment. */
  const shownOf = async (linkId: string) => {
    const { body } = await call(`${system.baseUrl}/checkout/payment-links/${linkId}`);
    return { handle: /@(\w+)\/pay/.exec(String(body["url"]))?.[1], reason: body["reason"] };
  };

  const suspend = async ({ userId }: Merchant): Promise<void> => {
    const path = `${system.internalUrl}/internal/accounts/suspend`;
    const answer = await call(path, { method: "POST", body: { userId } });
    expect(answer.body).toMatchObject({ isSuspended: true });
  };

  /** What was lost is older than a minute by now, as the README has the operator wait. */
  const letAMinutePass = async (): Promise<void> => {
    for (const table of ["links_api.accounts", "webhook_dispatcher.owner_images"]) {
      await admin.query(`UPDATE ${table} SET told_at = told_at - interval '2 minutes'`);
    }
  };

  const repeatedCount = () =>
    receiver.received.length - new Set(receiver.received.map(({ body }) => body.id)).size;

  test.each(disasters.map((restored, at) => ({ restored, at, names: restored.join(", ") })))(
    "$names restored to before they settled",
    async ({ restored, at }) => {
      const [before, since] = [`alice${at}`, `alicia${at}`];
      const owner = await openOwner(before);
      const links = await openLinks(paymentCount / 2);
      // Some links are paid by half when the dump is made.
      await settle(links.slice(0, links.length / 2).flatMap(([first]) => first ?? []));
      await comesToRest("before the dump");
      const copies: SchemaCopy[] = [];
      for (const schema of restored) copies.push(await copySchema(admin, schema));
      await giveHandle(owner, since);
      await settle(links.flat());
      await comesToRest("before the disaster");
      await isAllRight(links);
      expect(await shownOf(owner.linkId)).toMatchObject({ handle: since });
      const repeatsBefore = repeatedCount();

      const replicas = restored.map(replicaOf);
      await Promise.all(replicas.map((replica) => replica.kill()));
      for (const copy of copies) await copy.restore();
      await Promise.all(replicas.map((replica) => replica.start()));
      await waitUntil("what was lost is heard again", () => isHeard("accounts.v1"), waitMsMax);
      await letAMinutePass();
      await tellAllAgain();
      // The last of the README's steps: providers send again what they had told since.
      await settle(links.flat());
      await comesToRest("after the restore");
      await isAllRight(links);
      if (!restored.includes("webhook_dispatcher")) expect(repeatedCount()).toBe(repeatsBefore);
      const handle = restored.includes("auth_keys") ? before : since;
      expect(await shownOf(owner.linkId)).toMatchObject({ handle });
      await suspend(owner);
      await comesToRest("once an account is suspended");
      expect(await shownOf(owner.linkId)).toEqual({ handle, reason: "account_suspended" });
      const later = await openLinks(2);
      await settle(later.flat());
      await comesToRest("later");
      await isAllRight(later);
    },
    testMsMax,
  );

  test(
    "Kafka is emptied while links-api has not heard of them",
    async () => {
      const links = await openLinks(paymentCount / 2);
      await settle(links.slice(0, links.length / 2).flatMap(([first]) => first ?? []));
      await comesToRest("before the disaster");
      await replicaOf("links_api").kill();
      await settle(links.flat());
      await waitUntil("all is sent", async () => {
        const { rowCount } = await admin.query("SELECT FROM settlement_listener.outbox");
        return rowCount === 0;
      });
      await Promise.all(
        system.replicas.filter(({ service }) => service !== "links-api").map((one) => one.kill()),
      );
      const topics = topicNames.map((topic) => system.topicPrefix + topic);
      await kafka.deleteTopics({ topics });
      await waitUntil("they are gone", async () => {
        const known = await kafka.listTopics();
        return !topics.some((topic) => known.includes(topic));
      });
      await ensureTopics({
        brokers: testBrokers(),
        clientId: "tests",
        log: openLog({ service: "tests", level: "warn" }),
        replicationFactor: 1,
        topics: prefixTopics(topicSettings, system.topicPrefix),
      });
      await Promise.all(system.replicas.map((replica) => replica.start()));
      await waitUntil("each consumer has noticed", haveNoticed, waitMsMax);
      await tellAllAgain();
      await comesToRest("after the restart");
      await isAllRight(links);
      expect(system.output()).toContain("the log does not have what comes next");
    },
    testMsMax,
  );
});
