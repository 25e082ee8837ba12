import { isUtf8 } from "node:buffer";
import * as z from "zod";
import type { OutgoingRecord, ReceivedRecord } from "./bus.ts";
import { type Watermark, parseWatermark } from "./watermarks.ts";
import type { Envelope, RegisteredHandler } from "./event-handlers.ts";

/** An event as stored in the outbox. */
export type StoredEvent = {
  id: string;
  topic: string;
  key: string;
  type: string;
  occurredAt: Date;
  traceparent: string | null;
  value: string;
};

/**
 * Converts an event to a record: CloudEvents 1.0, Kafka binding, binary mode, plus W3C
 * `traceparent`.
 */
export const toRecord = (event: StoredEvent, source: string): OutgoingRecord => ({
  topic: event.topic,
  key: event.key,
  headers: {
    ce_specversion: "1.0",
    ce_id: event.id,
    ce_source: source,
    ce_type: event.type,
    ce_time: event.occurredAt.toISOString(),
    "content-type": "application/json",
    ...(event.traceparent === null ? {} : { traceparent: event.traceparent }),
  },
  value: event.value,
});

/** The meaning of a record for one consumer. */
export type ParsedRecord =
  | {
      kind: "event";
      record: ReceivedRecord;
      envelope: Envelope;
      traceparent: string | undefined;
      data: unknown;
      handler: RegisteredHandler;
    }
  /**
   * The sender's watermark: all events that it committed before this time have already been
   * received.
   */
  | ({ kind: "mark" } & Watermark)
  /** This consumer has no handler for the event type. */
  | { kind: "ignored"; record: ReceivedRecord }
  | { kind: "unreadable"; record: ReceivedRecord; reason: string };

export type ParsedEvent = Extract<ParsedRecord, { kind: "event" }>;

/** Indexes a consumer's handlers by topic and type. Throws if a type has two handlers. */
export const indexHandlers = (
  handlers: readonly RegisteredHandler[],
): ReadonlyMap<string, RegisteredHandler> => {
  const index = new Map(handlers.map((handler) => [toEventTypeKey(handler.event), handler]));
  if (index.size !== handlers.length) throw new Error("an event type has two handlers");
  return index;
};

/**
 * Parses an untrusted record. Unknown event types are ignored before any other check, and unknown
 * fields are dropped. If a record is unreadable, returns the reason. Never throws.
 */
export const parseRecord = (
  record: ReceivedRecord,
  handlers: ReadonlyMap<string, RegisteredHandler>,
): ParsedRecord => {
  const createUnreadable = (reason: string): ParsedRecord => ({
    kind: "unreadable",
    record,
    reason,
  });
  const type = record.headers["ce_type"];
  if (type === undefined) return createUnreadable("the header ce_type is missing");
  const watermark = parseWatermark(record);
  if (watermark !== undefined) return { kind: "mark", ...watermark };
  const handler = handlers.get(toEventTypeKey({ topic: record.topic, type }));
  if (handler === undefined) return { kind: "ignored", record };

  const headers = CloudEventHeaders.safeParse(record.headers);
  if (!headers.success) return createUnreadable(`headers: ${formatIssues(headers.error)}`);
  if (record.value === undefined) return createUnreadable("the value is missing");
  if (!isUtf8(record.value)) return createUnreadable("the value is not UTF-8");
  const json = parseJson(record.value.toString("utf8"));
  if (json === undefined) return createUnreadable("the value is not JSON");
  const data = handler.event.data.safeParse(json);
  if (!data.success) return createUnreadable(`data: ${formatIssues(data.error)}`);

  const { ce_id: id, ce_time: occurredAt, traceparent } = headers.data;
  return {
    kind: "event",
    record,
    envelope: { id, type, key: record.key ?? "", occurredAt },
    traceparent,
    data: data.data,
    handler,
  };
};

const toEventTypeKey = ({ topic, type }: { topic: string; type: string }): string =>
  `${topic}/${type}`;

const year10000Ms = Date.UTC(10_000, 0);

/** Rejects values that Postgres cannot store, before they can block a partition. */
const CloudEventHeaders = z.object({
  ce_id: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  ce_time: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .refine((instant) => instant.getTime() >= 0, { error: "is before 1970" })
    // In UTC, the last hours of 9999 can fall into the year 10000, which SQL formats differently.
    .refine((instant) => instant.getTime() < year10000Ms, { error: "is after 9999" }),
  traceparent: z.string().optional().catch(undefined),
});

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const issuesMax = 3;

/** Includes only paths and expectations, because a value could contain a secret. */
const formatIssues = (error: z.ZodError): string =>
  error.issues
    .slice(0, issuesMax)
    .map((issue) => `${issue.path.join(".")}: ${issue.message}`)
    .join("; ");
