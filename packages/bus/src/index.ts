export { type Deed, auditEvent, publishAudit } from "./audit-event.ts";
export type {
  BatchHandler,
  Bus,
  HandledRecords,
  OutgoingRecord,
  Place,
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
export { grantKafkaUse } from "./kafka-acls.ts";
export type { KafkaConnection } from "./kafka-client.ts";
export { ensureTopics } from "./kafka-topics.ts";
export { createLocalBus } from "./local-bus.ts";
export { findHeardUntil } from "./marks.ts";
export {
  type OutboxRow,
  type OutgoingEvent,
  outboxRow,
  outgoing,
  publish,
  writeOutbox,
} from "./outbox.ts";
export {
  type AfterCommit,
  type ChunkEvent,
  type ChunkHandler,
  type Envelope,
  type EventHandler,
  type Reaction,
  on,
  onTogether,
} from "./reaction.ts";
export { prefixTopics, prefixUse, withTopicPrefix } from "./topic-prefix.ts";
export { type Relay, type RelayOptions, createRelay } from "./relay.ts";
export {
  type Republish,
  type Republishing,
  askToRepublish,
  findRepublish,
  republishPage,
  startRepublishing,
} from "./republish.ts";
export { type ReplayOptions, type ReplayResult, replayDeadLetters } from "./replay.ts";
export { type Told, isNewerThanKept, keptTold, toldBy } from "./told.ts";

/** The SQL files that every service applies before its own. */
export const busMigrations = new URL("../migrations/", import.meta.url);
