import { isUtf8 } from "node:buffer";
import * as z from "zod";
import type { OutgoingRecord, ReceivedRecord } from "./bus.ts";
import { type Mark, readMark } from "./marks.ts";
import type { Envelope, Reaction } from "./reaction.ts";

/** An event as it lies in the outbox. */
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
 * Writes an event as a record: CloudEvents 1.0, Kafka binding, binary mode, plus W3C `traceparent`.
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

/** What a record turned out to be to one consumer. */
export type Reading =
  | {
      kind: "event";
      record: ReceivedRecord;
      envelope: Envelope;
      traceparent: string | undefined;
      data: unknown;
      reaction: Reaction;
    }
  /** Not an event: what its sender had committed until then lies before it. */
  | ({ kind: "mark" } & Mark)
  /** This consumer does not react to its type. */
  | { kind: "ignored"; record: ReceivedRecord }
  | { kind: "unreadable"; record: ReceivedRecord; reason: string };

export type EventReading = Extract<Reading, { kind: "event" }>;

/** The reactions of one consumer, by topic and type. Throws if a type has two. */
export const indexReactions = (reactions: readonly Reaction[]): ReadonlyMap<string, Reaction> => {
  const index = new Map(reactions.map((reaction) => [nameOf(reaction.event), reaction]));
  if (index.size !== reactions.length) throw new Error("two reactions to one event type");
  return index;
};

/**
 * Reads a stranger's record. Unknown types are let through before anything else is checked, and
 * unknown fields are dropped. For a record that cannot be read it answers the reason; it never
 * throws.
 */
export const readRecord = (
  record: ReceivedRecord,
  reactions: ReadonlyMap<string, Reaction>,
): Reading => {
  const unreadable = (reason: string): Reading => ({ kind: "unreadable", record, reason });
  const type = record.headers["ce_type"];
  if (type === undefined) return unreadable("the header ce_type is missing");
  const mark = readMark(record);
  if (mark !== undefined) return { kind: "mark", ...mark };
  const reaction = reactions.get(nameOf({ topic: record.topic, type }));
  if (reaction === undefined) return { kind: "ignored", record };

  const headers = Headers.safeParse(record.headers);
  if (!headers.success) return unreadable(`headers: ${explain(headers.error)}`);
  if (record.value === undefined) return unreadable("the value is missing");
  if (!isUtf8(record.value)) return unreadable("the value is not UTF-8");
  const json = parseJson(record.value.toString("utf8"));
  if (json === undefined) return unreadable("the value is not JSON");
  const data = reaction.event.data.safeParse(json);
  if (!data.success) return unreadable(`data: ${explain(data.error)}`);

  const { ce_id: id, ce_time: occurredAt, traceparent } = headers.data;
  return {
    kind: "event",
    record,
    envelope: { id, type, key: record.key ?? "", occurredAt },
    traceparent,
    data: data.data,
    reaction,
  };
};

const nameOf = ({ topic, type }: { topic: string; type: string }): string => `${topic}/${type}`;

const year10000Ms = Date.UTC(10_000, 0);

/** What Postgres would refuse to store is refused here, where that blocks nothing. */
const Headers = z.object({
  ce_id: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  ce_time: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .refine((instant) => instant.getTime() >= 0, { error: "lies before 1970" })
    // With an offset, the last hours of 9999 are the year 10000, which SQL writes otherwise.
    .refine((instant) => instant.getTime() < year10000Ms, { error: "lies after 9999" }),
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

/** Paths and expectations only: a value could hold a secret. */
const explain = (error: z.ZodError): string =>
  error.issues
    .slice(0, issuesMax)
    .map((issue) => `${issue.path.join(".")}: ${issue.message}`)
    .join("; ");
