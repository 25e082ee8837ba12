import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Transaction } from "@payment-links/postgres";
import { continueTrace, tracer } from "@payment-links/runtime";
import type { EventReading } from "./cloud-event.ts";
import type { AfterCommit, ChunkHandler, EventHandler } from "./reaction.ts";
import { linksTo } from "./trace-links.ts";

/**
 * Runs the handlers in the order of the events. A handler that takes many gets each run of its
 * events together. Answers what to do once the transaction is committed.
 */
export const applyEvents = async (
  tx: Transaction,
  group: string,
  events: readonly EventReading[],
): Promise<readonly AfterCommit[]> => {
  const afterCommits: AfterCommit[] = [];
  let run: EventReading[] = [];
  const endRun = async () => {
    const [first] = run;
    if (first === undefined) return;
    const ended = run;
    run = [];
    const { reaction } = first;
    if ("apply" in reaction) return applyAlone(tx, group, first, reaction.apply);
    const afterCommit = await applyTogether(tx, group, ended, reaction.applyTogether);
    if (afterCommit !== undefined) afterCommits.push(afterCommit);
  };
  for (const event of events) {
    const handler = togetherHandler(event);
    if (handler === undefined || handler !== togetherHandler(run[0])) await endRun();
    run.push(event);
  }
  await endRun();
  return afterCommits;
};

const togetherHandler = (event: EventReading | undefined): ChunkHandler | undefined =>
  event !== undefined && "applyTogether" in event.reaction
    ? event.reaction.applyTogether
    : undefined;

/** A span that continues the event's own trace. */
const applyAlone = (
  tx: Transaction,
  group: string,
  event: EventReading,
  apply: EventHandler,
): Promise<void> => {
  const { record, envelope, traceparent, data } = event;
  const attributes = {
    ...attributesOf(group, event),
    "messaging.destination.partition.id": String(record.partition),
    "messaging.message.id": envelope.id,
  };
  return tracer.startActiveSpan(
    `process ${record.topic}`,
    { kind: SpanKind.CONSUMER, attributes },
    continueTrace(traceparent),
    (span) => ending(span, () => apply(tx, data, envelope)),
  );
};

/**
 * One span for all events, with links to their traces. What an event causes continues that event's
 * trace.
 */
const applyTogether = (
  tx: Transaction,
  group: string,
  events: readonly EventReading[],
  apply: ChunkHandler,
): Promise<AfterCommit | void> => {
  const [first] = events;
  if (first === undefined) return Promise.resolve();
  const links = linksTo(events.map(({ traceparent }) => traceparent));
  const attributes = {
    ...attributesOf(group, first),
    "messaging.batch.message_count": events.length,
  };
  return tracer.startActiveSpan(
    `process ${first.record.topic}`,
    { kind: SpanKind.CONSUMER, attributes, links, root: true },
    (span) => ending(span, () => apply(tx, events)),
  );
};

const attributesOf = (group: string, { record }: EventReading) => ({
  "messaging.operation.type": "process",
  "messaging.destination.name": record.topic,
  "messaging.consumer.group.name": group,
});

const ending = async <Out>(span: Span, work: () => Promise<Out>): Promise<Out> => {
  try {
    return await work();
  } catch (error) {
    const type = error instanceof Error ? error.name : "unknown";
    span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};
