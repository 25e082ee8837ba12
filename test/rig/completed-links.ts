import { Kafka, logLevel } from "kafkajs";
import * as z from "zod";
import { createOutgoingEvent } from "@payment-links/bus";
import { getTestBrokers } from "@payment-links/bus/testing";
import {
  Decimal,
  type PaymentLinkState,
  linkCompleted,
  newId,
  pickLinkTexts,
} from "@payment-links/contracts";

const recordsPerSend = 500;

/** A record about a completed link, and the link's ID. */
type CompletedLinkRecord = ReturnType<typeof createCompletedLinkRecord>;

/**
 * Creates a record about a link that completes now. The body of its webhook has about 400 bytes
 * plus the length of `description`.
 */
export const createCompletedLinkRecord = (userId: string, description: string | null = null) => {
  const now = new Date();
  const link: PaymentLinkState = {
    id: newId("plink"),
    version: 2,
    userId,
    status: "completed",
    toAmount: new Decimal("25.5"),
    receivedAmount: new Decimal("25.5"),
    currentUsage: 1,
    maxUsage: null,
    ...pickLinkTexts({ description }),
    expirationDate: null,
    destinationAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    chainId: "8453",
    tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    paymentReference: "00".repeat(16),
    dateCreated: now,
  };
  const { event, key, data } = createOutgoingEvent(linkCompleted, {
    key: link.id,
    occurredAt: now,
    data: { link },
  });
  return {
    linkId: link.id,
    message: {
      key,
      value: JSON.stringify(z.encode(event.data, data)),
      headers: {
        ce_specversion: "1.0",
        ce_id: newId("evt"),
        ce_source: "links-api",
        ce_type: event.type,
        ce_time: now.toISOString(),
      },
    },
  };
};

/** Connects to the brokers of the test run to publish links as links-api does. */
export const connectLinkPublisher = async (topicPrefix: string) => {
  const brokers = getTestBrokers();
  const producer = new Kafka({ brokers, logLevel: logLevel.ERROR }).producer();
  await producer.connect();
  const topic = `${topicPrefix}${linkCompleted.topic}`;
  return {
    /** Resolves when the brokers have acknowledged all records. */
    publish: async (links: readonly CompletedLinkRecord[]): Promise<void> => {
      for (let offset = 0; offset < links.length; offset += recordsPerSend) {
        const messages = links.slice(offset, offset + recordsPerSend).map(({ message }) => message);
        await producer.send({ topic, messages });
      }
    },
    close: () => producer.disconnect(),
  };
};
export type LinkPublisher = Awaited<ReturnType<typeof connectLinkPublisher>>;
