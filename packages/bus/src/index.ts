export { type AuditEvent, createAuditEvent, publishAuditEvent } from "./audit-event.ts";
export type {
  BatchHandler,
  Bus,
  BatchResult,
  OutgoingRecord,
  TopicPartition,
  PartitionLog,
  Position,
  PositionStore,
  ReceivedRecord,
  Subscription,
} from "./bus.ts";
export { type Consumer, type ConsumerOptions, startConsumer } from "./consumer.ts";
export { type DeadLetter, discardDeadLetter, listDeadLetters } from "./dead-letters.ts";
export { type FailureClass, classifyFailure } from "./failure.ts";
export { type KafkaBus, type KafkaBusOptions, createKafkaBus } from "./kafka-bus.ts";
export { grantKafkaAccess } from "./kafka-acls.ts";
export type { KafkaConnection } from "./kafka-client.ts";
export { ensureTopics } from "./kafka-topics.ts";
export { createLocalBus } from "./local-bus.ts";
export { findReceivedUntil } from "./watermarks.ts";
export {
  type OutboxRow,
  type OutgoingEvent,
  buildOutboxInsert,
  toOutboxRow,
  createOutgoingEvent,
  publish,
  insertOutboxRows,
} from "./outbox.ts";
export {
  type ChunkEvent,
  type ChunkHandler,
  type Envelope,
  type EventHandler,
  type RegisteredHandler,
  on,
  onChunk,
} from "./event-handlers.ts";
export { prefixTopics, prefixUsage, withTopicPrefix } from "./topic-prefix.ts";
export { type Relay, type RelayOptions, createRelay } from "./relay.ts";
export {
  type Republish,
  type RepublishSource,
  requestRepublish,
  findRepublish,
  republishPage,
  startRepublishLoop,
} from "./republish.ts";
export { type ReplayOptions, type ReplayResult, replayDeadLetters } from "./replay.ts";
export {
  type LatestPublished,
  isNewerThanStored,
  setLatestPublished,
  toLatestPublished,
} from "./latest-published.ts";

/** The migrations that every service applies before its own. */
export const busMigrations = new URL("../migrations/", import.meta.url);
