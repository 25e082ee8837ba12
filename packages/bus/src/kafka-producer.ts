import { type Kafka, Partitioners, type Producer } from "kafkajs";
import type { OutgoingRecord } from "./bus.ts";
import {
  type DestroyableSockets,
  type KafkaConnection,
  createDestroyableSockets,
  createKafkaClient,
  requestTimeoutMs,
} from "./kafka-client.ts";
import { partitionCountHeader } from "./watermarks.ts";

/** Sends records in order, one send at a time. */
export type KafkaProducer = {
  send(records: readonly OutgoingRecord[]): Promise<void>;
  readonly sendTimeoutMs: number;
  close(): void;
};

type ProducerConnection = { producer: Producer; sockets: DestroyableSockets; kafka: Kafka };

const sendTimeoutMs = 10_000;
/**
 * A broker's default limit is 1 MiB per batch, and all records of a send may go to one partition.
 */
const sendBytesMax = 512 * 1024;
const recordOverheadBytes = 512;

/**
 * Creates an idempotent producer that is discarded with its sockets after any failure. If it
 * continued, it would reuse the failed records' sequence numbers for the next records. A broker
 * that had stored the failed records would treat the next ones as duplicates and drop them.
 *
 * A disconnected producer cannot send anything, even if kafkajs still retries. Each send therefore
 * ends within its timeout, before the next one starts.
 */
export const createKafkaProducer = (connection: KafkaConnection): KafkaProducer => {
  let currentConnection: Promise<ProducerConnection> | undefined;
  let destroyCurrentSockets = () => {};
  let lastSend: Promise<unknown> = Promise.resolve();
  /** Cached forever, because partition counts never change (rule EVENT-1). */
  const partitionCounts = new Map<string, number>();

  const getPartitionCount = async (kafka: Kafka, topic: string): Promise<number> => {
    const partitionCount = partitionCounts.get(topic) ?? (await countPartitions(kafka, topic));
    partitionCounts.set(topic, partitionCount);
    return partitionCount;
  };

  const connect = async (): Promise<ProducerConnection> => {
    const sockets = createDestroyableSockets();
    destroyCurrentSockets = sockets.destroyAll;
    const kafka = createKafkaClient(connection, {
      socketFactory: sockets.factory,
      // kafkajs needs at least one retry. Records keep their sequence numbers within one send.
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

  const sendInBatches = async (records: readonly OutgoingRecord[]): Promise<void> => {
    const { producer, kafka } = await (currentConnection ??= connect());
    for (const batch of splitByBytes(
      await expandToPartitions(records, (topic) => getPartitionCount(kafka, topic)),
    )) {
      await producer.sendBatch({
        acks: -1,
        timeout: requestTimeoutMs,
        topicMessages: groupByTopic(batch),
      });
    }
  };

  const discardProducer = () => {
    destroyCurrentSockets();
    currentConnection = undefined;
  };

  const sendWithTimeout = async (records: readonly OutgoingRecord[]): Promise<void> => {
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error("Kafka did not answer in time")),
      sendTimeoutMs,
    );
    try {
      await Promise.race([sendInBatches(records), timedOut]);
    } catch (error) {
      discardProducer();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    sendTimeoutMs,
    send: (records) => {
      const sendPromise = lastSend.then(() => sendWithTimeout(records));
      lastSend = sendPromise.catch(() => {});
      return sendPromise;
    },
    close: discardProducer,
  };
};

type PartitionedRecord = OutgoingRecord & { partition?: number };

/** Expands each record marked `sendToEveryPartition` to one record per partition. */
const expandToPartitions = async (
  records: readonly OutgoingRecord[],
  getPartitionCount: (topic: string) => Promise<number>,
): Promise<PartitionedRecord[]> => {
  const partitionedRecords: PartitionedRecord[] = [];
  for (const record of records) {
    if (record.sendToEveryPartition !== true) {
      partitionedRecords.push(record);
      continue;
    }
    const partitionCount = await getPartitionCount(record.topic);
    const headers = { ...record.headers, [partitionCountHeader]: String(partitionCount) };
    for (let partition = 0; partition < partitionCount; partition += 1) {
      partitionedRecords.push({ ...record, headers, partition });
    }
  }
  return partitionedRecords;
};

const countPartitions = async (kafka: Kafka, topic: string): Promise<number> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const count = topics[0]?.partitions.length ?? 0;
    if (count === 0) throw new Error(`the broker reports no partitions of ${topic}`);
    return count;
  } finally {
    await admin.disconnect();
  }
};

const splitByBytes = (records: readonly PartitionedRecord[]): PartitionedRecord[][] => {
  const batches: PartitionedRecord[][] = [];
  let batchBytes = sendBytesMax;
  for (const record of records) {
    const recordBytes = Buffer.byteLength(record.value) + recordOverheadBytes;
    if (batchBytes + recordBytes > sendBytesMax) {
      batches.push([]);
      batchBytes = 0;
    }
    batches.at(-1)?.push(record);
    batchBytes += recordBytes;
  }
  return batches;
};

const groupByTopic = (records: readonly PartitionedRecord[]) =>
  Object.entries(Object.groupBy(records, ({ topic }) => topic)).map(([topic, messages = []]) => ({
    topic,
    messages: messages.map(({ key, value, headers, partition }) => ({
      key,
      value,
      headers,
      ...(partition === undefined ? {} : { partition }),
    })),
  }));
