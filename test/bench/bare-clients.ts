import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { Pool } from "pg";
import { request } from "undici";
import { ensureTopics } from "@payment-links/bus";
import { getTestBrokers } from "@payment-links/bus/testing";
import { createLog } from "@payment-links/runtime";
import type { OnEnd } from "./harness.ts";
import { createInstants } from "./instants.ts";

/**
 * Connects bare clients for the steps of a payment. Each returned function resolves with its
 * duration in milliseconds. `sendRecord` produces and consumes a record with the services' own
 * settings. `runChain` runs all steps that a payment needs, one after the other: a record, a
 * commit, a record, a commit and a call.
 */
export const connectBareClients = async (
  onEnd: OnEnd,
  { adminUrl, topicPrefix }: { adminUrl: string; topicPrefix: string },
) => {
  const sendRecord = await connectRoundTrip(onEnd, `${topicPrefix}round-trip`);
  const commitRow = await connectDatabase(onEnd, adminUrl);
  const sendCall = await startReceiver(onEnd);
  const runChain = async (): Promise<number> => {
    let tookMs = 0;
    for (const step of [sendRecord, commitRow, sendRecord, commitRow, sendCall])
      tookMs += await step();
    return tookMs;
  };
  return { sendRecord, runChain };
};

/** Has the size of a notice. */
const body = JSON.stringify({ about: "as long as a notice is".padEnd(600, ".") });

const measureMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

const connectRoundTrip = async (onEnd: OnEnd, topic: string): Promise<() => Promise<number>> => {
  const brokers = getTestBrokers();
  await ensureTopics({
    brokers,
    clientId: "bench",
    log: createLog({ service: "bench", level: "warn" }),
    replicationFactor: 1,
    topics: { [topic]: { partitions: 1, config: {} } },
  });
  const kafka = new Kafka({ brokers, logLevel: logLevel.ERROR });
  const producer = kafka.producer({ idempotent: true });
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 1_000 });
  const arrivals = createInstants();
  await Promise.all([producer.connect(), consumer.connect()]);
  onEnd(() => Promise.all([producer.disconnect(), consumer.disconnect()]));
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => arrivals.record(String(message.value), performance.now()),
  });
  let sentCount = 0;
  return async () => {
    sentCount += 1;
    const value = String(sentCount);
    const sentAt = performance.now();
    await producer.send({ topic, acks: -1, messages: [{ key: value, value }] });
    return (await arrivals.waitFor(value)) - sentAt;
  };
};

/** The returned function commits a row in its own transaction, as the services do with an event. */
const connectDatabase = async (onEnd: OnEnd, url: string): Promise<() => Promise<number>> => {
  const pool = new Pool({ connectionString: url, max: 10 });
  onEnd(() => pool.end());
  await pool.query("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY, body text)");
  const insert = {
    name: "insert-bare",
    text: "INSERT INTO bare (body) VALUES ($1)",
    values: [body],
  };
  const commitRow = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await client.query(insert);
      await client.query("COMMIT");
    } finally {
      client.release();
    }
  };
  return () => measureMs(commitRow);
};

const startReceiver = async (onEnd: OnEnd): Promise<() => Promise<number>> => {
  const server = createServer((req, res) => req.resume().on("end", () => res.end("{}")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return () => measureMs(async () => (await request(url, { method: "POST", body })).body.dump());
};
