import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { request } from "undici";
import { testBrokers } from "@payment-links/bus/testing";
import type { RealSystem } from "./real-system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

/** Texts that must appear nowhere, by names that a failure may print. */
export type Secrets = Readonly<Record<string, string>>;

/** Everything that a system stores or puts out, by place. */
export type Dump = Readonly<Record<string, string>>;

/** Reads every table, topic and Redis value of a system, its log lines and its metrics. */
export const dumpSystem = async (system: RealSystem): Promise<Dump> => ({
  ...(await dumpTables(system.adminUrl)),
  ...(await dumpTopics(system.topicPrefix)),
  Redis: await dumpRedis(system.redisUrl),
  log: system.output(),
  metrics: await readMetrics(system),
});

/** Where which secret appears, in any of the forms in which bytes are written down. */
export const findSecrets = (secrets: Secrets, dump: Dump): string[] =>
  Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = formsOf(secret);
    return Object.entries(dump)
      .filter(([, text]) => forms.some((form) => text.includes(form)))
      .map(([place]) => `${name} in ${place}`);
  });

/** The part that cannot be guessed: a prefix is shown to its owner, and a scheme to everybody. */
const significantPart = (secret: string): string => secret.replace(/^(?:plk_\w{4}_|whsec_)/, "");

/** This much of a secret, from either end, counts as the secret. */
const partChars = 16;

/**
 * The text and the bytes that it encodes: in clear, in hex, in base64 at every offset, in a URL.
 */
const formsOf = (secret: string): string[] => {
  const part = significantPart(secret);
  const encoded = [Buffer.from(part, "utf8"), Buffer.from(part, "base64url")];
  const ends = [part.slice(0, partChars), part.slice(-partChars)];
  const whole = encoded.flatMap((bytes) => {
    const hex = bytes.toString("hex");
    return [
      bytes.toString("latin1"),
      encodeURIComponent(bytes.toString("latin1")),
      hex,
      hex.toUpperCase(),
      ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
    ];
  });
  return [...ends, ...whole];
};

/**
 * How bytes look within base64 after the given number of others; characters that depend on
 * neighbours are cut off.
 */
const base64At = (bytes: Buffer, offset: number): string[] => {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const inner = text.slice(offset === 0 ? 0 : offset + 1, -2);
  return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
};

const dumpTables = async (adminUrl: string): Promise<Dump> => {
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

/** Every record of every topic with the prefix: key, value and headers, as the broker holds them. */
const dumpTopics = async (prefix: string): Promise<Dump> => {
  const brokers = testBrokers();
  const kafka = new Kafka({ clientId: "secret-hunt", brokers, logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  const ends = new Map<string, number>();
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      if (Number(high) > Number(low)) ends.set(`${topic} ${partition}`, Number(high));
    }
  }
  const texts: Record<string, string[]> = Object.fromEntries(topics.map((name) => [name, []]));
  const groupId = `secret-hunt-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    eachBatch: async ({ batch }) => {
      for (const { key, value, headers } of batch.messages) {
        const told = Object.entries(headers ?? {}).map(([name, one]) => `${name}=${String(one)}`);
        const parts = [key, value].map((bytes) => bytes?.toString("latin1") ?? "");
        texts[batch.topic]?.push([...parts, ...told].join(" "));
      }
      const place = `${batch.topic} ${batch.partition}`;
      if (Number(batch.lastOffset()) + 1 >= (ends.get(place) ?? 0)) ends.delete(place);
    },
  });
  await waitUntil("every record of every topic", () => ends.size === 0);
  await consumer.disconnect();
  await admin.deleteGroups([groupId]);
  await admin.disconnect();
  return Object.fromEntries(
    Object.entries(texts).map(([name, parts]) => [
      `topic ${name.slice(prefix.length)}`,
      parts.join("\n"),
    ]),
  );
};

const dumpRedis = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  const parts: string[] = [];
  for await (const keys of redis.scanStream({ count: 1_000 })) {
    for (const key of keys as string[]) {
      const value = await redis.dumpBuffer(key);
      parts.push(`${key} ${value?.toString("latin1") ?? ""}`);
    }
  }
  await redis.quit();
  return parts.join("\n");
};

const readMetrics = async ({ replicas }: RealSystem): Promise<string> => {
  const texts = replicas.map(async ({ internalPort }) => {
    const { body } = await request(`http://127.0.0.1:${internalPort}/metrics`);
    return body.text();
  });
  return (await Promise.all(texts)).join("\n");
};
