import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Transaction } from "@payment-links/postgres";
import { extractTraceContext, tracer } from "@payment-links/runtime";
import type { ParsedEvent } from "./cloud-event.ts";
import type { ChunkHandler, EventHandler } from "./event-handlers.ts";
import { createSpanLinks } from "./span-links.ts";

/**
 * Runs the handlers in event order. A chunk handler receives each run of consecutive events in one
 * call.
 */
export const applyEvents = async (
  tx: Transaction,
  group: string,
  events: readonly ParsedEvent[],
): Promise<void> => {
  let pendingEvents: ParsedEvent[] = [];
  const applyPendingEvents = async () => {
    const [first] = pendingEvents;
    if (first === undefined) return;
    const runEvents = pendingEvents;
    pendingEvents = [];
    const { handler } = first;
    if ("apply" in handler) return applyEvent(tx, group, first, handler.apply);
    return applyChunkEvents(tx, group, runEvents, handler.applyChunk);
  };
  for (const event of events) {
    const chunkHandler = getChunkHandler(event);
    if (chunkHandler === undefined || chunkHandler !== getChunkHandler(pendingEvents[0]))
      await applyPendingEvents();
    pendingEvents.push(event);
  }
  await applyPendingEvents();
};

const getChunkHandler = (event: ParsedEvent | undefined): ChunkHandler | undefined =>
  event !== undefined && "applyChunk" in event.handler ? event.handler.applyChunk : undefined;

/** Applies one event in a span that continues the event's own trace. */
const applyEvent = (
  tx: Transaction,
  group: string,
  event: ParsedEvent,
  apply: EventHandler,
): Promise<void> => {
  const { record, envelope, traceparent, data } = event;
  const attributes = {
    ...createSpanAttributes(group, event),
    "messaging.destination.partition.id": String(record.partition),
    "messaging.message.id": envelope.id,
  };
  return tracer.startActiveSpan(
    `process ${record.topic}`,
    { kind: SpanKind.CONSUMER, attributes },
    extractTraceContext(traceparent),
    (span) => runInSpan(span, () => apply(tx, data, envelope)),
  );
};

/**
 * Applies all events in one span that links to their traces. Events that a handler publishes
 * continue the trace of the event that caused them.
 */
const applyChunkEvents = (
  tx: Transaction,
  group: string,
  events: readonly ParsedEvent[],
  apply: ChunkHandler,
): Promise<void> => {
  const [first] = events;
  if (first === undefined) return Promise.resolve();
  const links = createSpanLinks(events.map(({ traceparent }) => traceparent));
  const attributes = {
    ...createSpanAttributes(group, first),
    "messaging.batch.message_count": events.length,
  };
  return tracer.startActiveSpan(
    `process ${first.record.topic}`,
    { kind: SpanKind.CONSUMER, attributes, links, root: true },
    (span) => runInSpan(span, () => apply(tx, events)),
  );
};

const createSpanAttributes = (group: string, { record }: ParsedEvent) => ({
  "messaging.operation.type": "process",
  "messaging.destination.name": record.topic,
  "messaging.consumer.group.name": group,
});

const runInSpan = async <Result>(span: Span, operation: () => Promise<Result>): Promise<Result> => {
  try {
    return await operation();
  } catch (error) {
    const errorType = error instanceof Error ? error.name : "unknown";
    span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};
