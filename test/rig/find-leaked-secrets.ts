import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { request } from "undici";
import { getTestBrokers } from "@payment-links/bus/testing";
import type { RealSystem } from "./real-system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

/**
 * Secrets that must not appear anywhere. The keys are names that a test failure is allowed to
 * print.
 */
export type Secrets = Readonly<Record<string, string>>;

/** The texts that a system stores or outputs, keyed by location. */
export type SystemDump = Readonly<Record<string, string>>;

/** Reads every table, topic and Redis value of a system, its logs and its metrics. */
export const dumpSystem = async (system: RealSystem): Promise<SystemDump> => ({
  ...(await dumpTables(system.adminUrl)),
  ...(await dumpTopics(system.topicPrefix)),
  Redis: await dumpRedis(system.redisUrl),
  log: system.output(),
  metrics: await readMetrics(system),
});

/** Returns the locations where a secret appears in any common encoding. */
export const findSecrets = (secrets: Secrets, dump: SystemDump): string[] =>
  Object.entries(secrets).flatMap(([name, secret]) => {
    const encodings = listEncodings(secret);
    return Object.entries(dump)
      .filter(([, text]) => encodings.some((encoding) => text.includes(encoding)))
      .map(([location]) => `${name} in ${location}`);
  });

/** Returns the secret part without the prefix. Prefixes are public. */
const significantPart = (secret: string): string => secret.replace(/^(?:plk_\w{4}_|whsec_)/, "");

/** A text with this many characters from either end of a secret counts as a leak. */
const partChars = 16;

/**
 * Returns the encodings of the text, and of the bytes that it encodes: plain, hex, base64 at every
 * offset, and URL-encoded.
 */
const listEncodings = (secret: string): string[] => {
  const significant = significantPart(secret);
  const byteForms = [Buffer.from(significant, "utf8"), Buffer.from(significant, "base64url")];
  const partEnds = [significant.slice(0, partChars), significant.slice(-partChars)];
  const fullEncodings = byteForms.flatMap((bytes) => {
    const hex = bytes.toString("hex");
    return [
      bytes.toString("latin1"),
      encodeURIComponent(bytes.toString("latin1")),
      hex,
      hex.toUpperCase(),
      ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
    ];
  });
  return [...partEnds, ...fullEncodings];
};

/**
 * Returns the base64 text of bytes that follow `offset` other bytes. Omits the characters that
 * depend on neighboring bytes.
 */
const base64At = (bytes: Buffer, offset: number): string[] => {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const stableText = text.slice(offset === 0 ? 0 : offset + 1, -2);
  return [stableText, stableText.replaceAll("+", "-").replaceAll("/", "_")];
};

const dumpTables = async (adminUrl: string): Promise<SystemDump> => {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(`
    SELECT format('%I.%I', nspname, relname) AS name
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'm') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'`);
  const dump: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
    dump[`table ${name}`] = rows.map(({ row }) => row).join("\n");
  }
  await client.end();
  return dump;
};

/** Reads every record of every topic with the prefix: key, value and headers, as stored by the broker. */
const dumpTopics = async (prefix: string): Promise<SystemDump> => {
  const brokers = getTestBrokers();
  const kafka = new Kafka({ clientId: "secret-hunt", brokers, logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  const endOffsets = new Map<string, number>();
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      if (Number(high) > Number(low)) endOffsets.set(`${topic} ${partition}`, Number(high));
    }
  }
  const recordsByTopic: Record<string, string[]> = Object.fromEntries(
    topics.map((name) => [name, []]),
  );
  const groupId = `secret-hunt-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    eachBatch: async ({ batch }) => {
      for (const { key, value, headers } of batch.messages) {
        const headerTexts = Object.entries(headers ?? {}).map(
          ([name, headerValue]) => `${name}=${String(headerValue)}`,
        );
        const fields = [key, value].map((bytes) => bytes?.toString("latin1") ?? "");
        recordsByTopic[batch.topic]?.push([...fields, ...headerTexts].join(" "));
      }
      const topicPartition = `${batch.topic} ${batch.partition}`;
      if (Number(batch.lastOffset()) + 1 >= (endOffsets.get(topicPartition) ?? 0))
        endOffsets.delete(topicPartition);
    },
  });
  await waitUntil("all records of all topics are read", () => endOffsets.size === 0);
  await consumer.disconnect();
  await admin.deleteGroups([groupId]);
  await admin.disconnect();
  return Object.fromEntries(
    Object.entries(recordsByTopic).map(([name, records]) => [
      `topic ${name.slice(prefix.length)}`,
      records.join("\n"),
    ]),
  );
};

const dumpRedis = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  const entries: string[] = [];
  for await (const keys of redis.scanStream({ count: 1_000 })) {
    for (const key of keys as string[]) {
      const value = await redis.dumpBuffer(key);
      entries.push(`${key} ${value?.toString("latin1") ?? ""}`);
    }
  }
  await redis.quit();
  return entries.join("\n");
};

const readMetrics = async ({ replicas }: RealSystem): Promise<string> => {
  const metricTexts = replicas.map(async ({ internalPort }) => {
    const { body } = await request(`http://127.0.0.1:${internalPort}/metrics`);
    return body.text();
  });
  return (await Promise.all(metricTexts)).join("\n");
};
