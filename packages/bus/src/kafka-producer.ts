import { type Kafka, Partitioners, type Producer } from "kafkajs";
import type { OutgoingRecord } from "./bus.ts";
import {
  type CuttableSockets,
  type KafkaConnection,
  createCuttableSockets,
  openKafka,
  requestTimeoutMs,
} from "./kafka-client.ts";
import { markPartitionsHeader } from "./marks.ts";

/** Sends records in order, one send at a time. */
export type KafkaProducer = {
  send(records: readonly OutgoingRecord[]): Promise<void>;
  readonly sendTimeoutMs: number;
  close(): void;
};

type Connected = { producer: Producer; sockets: CuttableSockets; kafka: Kafka };

const sendTimeoutMs = 10_000;
/** By default a broker takes 1 MiB in a batch, and a whole send may go to one partition. */
const sendBytesMax = 512 * 1024;
const recordOverheadBytes = 512;

/**
 * An idempotent producer that is thrown away, with its sockets, after any failure. If it went on,
 * it would give the next records the numbers of those that failed. A broker that had kept the
 * failed ones would then take the next ones for repeats and drop them. A producer that is cut off
 * cannot send any more, whatever kafkajs still tries. So a send ends within its time, and the next
 * one comes after it.
 */
export const createKafkaProducer = (connection: KafkaConnection): KafkaProducer => {
  let current: Promise<Connected> | undefined;
  let cutCurrent = () => {};
  let tail: Promise<unknown> = Promise.resolve();
  /** They never change (rule EVENT-1). */
  const partitionCounts = new Map<string, number>();

  const countIn = async (kafka: Kafka, topic: string): Promise<number> => {
    const known = partitionCounts.get(topic) ?? (await countPartitions(kafka, topic));
    partitionCounts.set(topic, known);
    return known;
  };

  const connect = async (): Promise<Connected> => {
    const sockets = createCuttableSockets();
    cutCurrent = sockets.cut;
    const kafka = openKafka(connection, {
      socketFactory: sockets.factory,
      // kafkajs needs at least one. Within one send the numbers stay with their records.
      retry: { initialRetryTime: 100, retries: 1 },
    });
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    return { producer, sockets, kafka };
  };

  const sendAll = async (records: readonly OutgoingRecord[]): Promise<void> => {
    const { producer, kafka } = await (current ??= connect());
    for (const part of splitByBytes(await spread(records, (topic) => countIn(kafka, topic)))) {
      await producer.sendBatch({
        acks: -1,
        timeout: requestTimeoutMs,
        topicMessages: groupByTopic(part),
      });
    }
  };

  const giveUp = () => {
    cutCurrent();
    current = undefined;
  };

  const send = async (records: readonly OutgoingRecord[]): Promise<void> => {
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error("Kafka did not answer in time")),
      sendTimeoutMs,
    );
    try {
      await Promise.race([sendAll(records), timedOut]);
    } catch (error) {
      giveUp();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    sendTimeoutMs,
    send: (records) => {
      const sent = tail.then(() => send(records));
      tail = sent.catch(() => {});
      return sent;
    },
    close: giveUp,
  };
};

type PlacedRecord = OutgoingRecord & { partition?: number };

/** Puts a record that is for every partition into each of them. */
const spread = async (
  records: readonly OutgoingRecord[],
  countIn: (topic: string) => Promise<number>,
): Promise<PlacedRecord[]> => {
  const placed: PlacedRecord[] = [];
  for (const record of records) {
    if (record.toEveryPartition !== true) {
      placed.push(record);
      continue;
    }
    const partitionCount = await countIn(record.topic);
    const headers = { ...record.headers, [markPartitionsHeader]: String(partitionCount) };
    for (let partition = 0; partition < partitionCount; partition += 1) {
      placed.push({ ...record, headers, partition });
    }
  }
  return placed;
};

const countPartitions = async (kafka: Kafka, topic: string): Promise<number> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const count = topics[0]?.partitions.length ?? 0;
    if (count === 0) throw new Error(`the broker knows no partition of ${topic}`);
    return count;
  } finally {
    await admin.disconnect();
  }
};

const splitByBytes = (records: readonly PlacedRecord[]): PlacedRecord[][] => {
  const parts: PlacedRecord[][] = [];
  let bytes = sendBytesMax;
  for (const record of records) {
    const recordBytes = Buffer.byteLength(record.value) + recordOverheadBytes;
    if (bytes + recordBytes > sendBytesMax) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(record);
    bytes += recordBytes;
  }
  return parts;
};

const groupByTopic = (records: readonly PlacedRecord[]) =>
  Object.entries(Object.groupBy(records, ({ topic }) => topic)).map(([topic, messages = []]) => ({
    topic,
    messages: messages.map(({ key, value, headers, partition }) => ({
      key,
      value,
      headers,
      ...(partition === undefined ? {} : { partition }),
    })),
  }));
