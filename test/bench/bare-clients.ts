import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { Pool } from "pg";
import { request } from "undici";
import { ensureTopics } from "@payment-links/bus";
import { getTestBrokers } from "@payment-links/bus/testing";
import { createLog } from "@payment-links/runtime";
import { createInstants } from "./instants.ts";

/**
 * The operations that every payment needs, each through a bare client library. Each returns its
 * duration in milliseconds.
 */
export type BareClients = {
  /**
   * Produces a record and consumes it with the client library directly, using the services' own
   * settings.
   */
  record: () => Promise<number>;
  /**
   * Commits a row in its own transaction, as the services commit a change together with its event.
   */
  commit: () => Promise<number>;
  /** Sends a POST request of the same size as a notice. */
  call: () => Promise<number>;
  close(): Promise<void>;
};

/** Creates the clients in this process. `topic` and the table must not be used elsewhere. */
export const createBareClients = async (options: {
  topic: string;
  adminUrl: string;
}): Promise<BareClients> => {
  const pool = new Pool({ connectionString: options.adminUrl, max: 10 });
  await pool.query("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY, body text)");
  const roundTrip = await createRoundTrip(options.topic);
  const server = createServer((req, res) => req.resume().on("end", () => res.end("{}")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    record: roundTrip.record,
    commit: () => measureMs(() => commitRow(pool)),
    call: () => measureMs(async () => (await request(url, { method: "POST", body })).body.dump()),
    close: async () => {
      server.close();
      await roundTrip.close();
      await pool.end();
    },
  };
};

const measureMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

const body = JSON.stringify({ about: "as long as a notice is".padEnd(600, ".") });

const insert = { name: "insert-bare", text: "INSERT INTO bare (body) VALUES ($1)", values: [body] };

const commitRow = async (pool: Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(insert);
    await client.query("COMMIT");
  } finally {
    client.release();
  }
};

const createRoundTrip = async (topic: string) => {
  const brokers = getTestBrokers();
  const log = createLog({ service: "bench", level: "warn" });
  await ensureTopics({
    brokers,
    clientId: "bench",
    log,
    replicationFactor: 1,
    topics: { [topic]: { partitions: 1, config: {} } },
  });
  const kafka = new Kafka({ brokers, logLevel: logLevel.ERROR });
  const producer = kafka.producer({ idempotent: true });
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 1_000 });
  const arrivals = createInstants();
  await Promise.all([producer.connect(), consumer.connect()]);
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      arrivals.record(String(message.value), performance.now());
    },
  });
  let sentCount = 0;
  const record = async (): Promise<number> => {
    sentCount += 1;
    const value = String(sentCount);
    const sentAt = performance.now();
    await producer.send({ topic, acks: -1, messages: [{ key: value, value }] });
    return (await arrivals.waitFor(value)) - sentAt;
  };
  return {
    record,
    close: async () => {
      await consumer.disconnect();
      await producer.disconnect();
    },
  };
};
