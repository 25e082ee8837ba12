import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { Counter, Gauge } from "prom-client";
import { createApiError } from "@payment-links/contracts";
import { addressBucketId } from "@payment-links/rate-limit";
import { type Clock, type Metrics, afterMs } from "@payment-links/runtime";
import {
  type StreamResponse,
  endStream,
  heartbeatIntervalMs,
  maintainStream,
  writeStreamHead,
} from "./stream-response.ts";

/**
 * Each stream ends after a random time in this range, so that clients reconnect at different times
 * and reach new processes.
 */
const lifetimeMs = { min: 10 * 60_000, max: 15 * 60_000 };
/** Each browser reconnects after a random delay in this range. */
const retryMs = { min: 1_000, max: 3_000 };
/** A client with more unread bytes than this is disconnected. */
const bufferedBytesMax = 64 * 1024;
/**
 * On shutdown, streams end in batches, so that clients reconnect at different times. A batch has a
 * minimum size. With many streams, batches are larger, so that all streams end within five seconds.
 */
const drainBatching = { batchIntervalMs: 100, batchSizeMin: 20, batchesMax: 50 };
const retryAfterSeconds = 10;

/** The state of a subject, and a fingerprint that later shows whether the state has changed. */
export type Snapshot = { fingerprint: string; state: object };

/** A resource that clients subscribe to, in the form that one kind of subscriber receives. */
export type StreamSubject = {
  /** Equal for all subscribers that receive the same data. */
  key: string;
  /** Reads the fingerprint before the state, so that no change is missed between the two. */
  readSnapshot: () => Promise<Snapshot>;
};

/**
 * Server-sent event streams. Each stream sends a subject's state when it starts and after every
 * change.
 */
export type EventStreams = {
  /**
   * Responds with a stream of a subject. Throws `503` or `429` with `Retry-After` if the process or
   * the caller's address is at its stream limit. Also throws errors from reading the snapshot.
   */
  startStream(req: Request, res: Response, subject: StreamSubject): Promise<void>;
  /** Returns the last known fingerprint of every subscribed subject. */
  listFingerprints(): readonly { key: string; fingerprint: string }[];
  /** Reads a subject that may have changed, and sends its state to its subscribers. */
  publishUpdate(key: string): Promise<void>;
  readonly heartbeatIntervalMs: number;
  /** Call this every `heartbeatIntervalMs`. Sends a comment on silent streams and ends expired ones. */
  sendHeartbeats(): void;
  /**
   * Ends all streams in batches within five seconds. They receive changes until then. A new stream
   * gets the current state and then ends, so that its client reconnects to another process.
   */
  drain(): void;
};

type EventStreamsOptions = {
  clock: Clock;
  metrics: Metrics;
  /** The maximum number of streams, per process and per source address (an IPv6 /64). */
  limits: { total: number; perAddress: number };
};

type Stream = StreamResponse & {
  /** The id of the last state sent. */
  lastEventId: string;
};

type FollowedSubject = {
  readSnapshot: StreamSubject["readSnapshot"];
  fingerprint: string;
  streams: Set<Stream>;
};

type Counters = ReturnType<typeof createCounters>;
type StreamContext = { clock: Clock; counters: Counters };
type StreamRegistry = { followedSubjects: Map<string, FollowedSubject>; streams: Set<Stream> };

/** Creates the event streams of a process. A process must have only one. */
export const createEventStreams = ({
  clock,
  metrics,
  limits,
}: EventStreamsOptions): EventStreams => {
  const followedSubjects = new Map<string, FollowedSubject>();
  const streams = new Set<Stream>();
  let isDraining = false;
  const counters = createCounters(metrics, () => streams.size);
  const context = { clock, counters };
  const reserveSlot = createStreamSlots(limits, counters);
  const batchReads = createWorkBatcher();

  return {
    startStream: async (req, res, subject) => {
      // The client has already disconnected. There will be no `close` event, so a reserved slot
      // would never be released.
      if (res.destroyed) return;
      res.once("close", reserveSlot(req, res));
      const { fingerprint, state } = await batchReads(subject.readSnapshot);
      if (res.destroyed) return;
      writeStreamHead(res);
      if (req.method === "HEAD") return void res.end();
      const { id, text } = formatEvent(state);
      const nowMs = clock.elapsedMs();
      const endsAtMs = nowMs + randomBetween(lifetimeMs);
      const stream: Stream = { res, lastEventId: id, writtenAtMs: nowMs, endsAtMs };
      subscribe({ followedSubjects, streams }, stream, subject, fingerprint);
      const retry = `retry: ${randomBetween(retryMs)}\n`;
      writeEvent(
        context,
        stream,
        req.get("last-event-id") === id ? `${retry}\n` : `${retry}${text}`,
      );
      if (isDraining) drainStream(context, stream);
    },
    listFingerprints: () =>
      [...followedSubjects].map(([key, { fingerprint }]) => ({ key, fingerprint })),
    publishUpdate: async (key) => {
      const subject = followedSubjects.get(key);
      if (subject === undefined) return;
      // A stream that starts during the read can have an older or a newer state. The next read
      // updates it.
      const presentStreams = new Set(subject.streams);
      const { fingerprint, state } = await subject.readSnapshot();
      const isCurrentForAll = [...subject.streams].every((stream) => presentStreams.has(stream));
      subject.fingerprint = isCurrentForAll ? fingerprint : "";
      const { id, text } = formatEvent(state);
      for (const stream of presentStreams) {
        if (stream.lastEventId === id || stream.res.writableEnded || stream.res.destroyed) continue;
        stream.lastEventId = id;
        writeEvent(context, stream, text);
      }
    },
    heartbeatIntervalMs,
    sendHeartbeats: () => {
      for (const stream of streams) sendHeartbeat(context, stream);
    },
    drain: () => {
      if (isDraining) return;
      isDraining = true;
      void endInBatches(context, streams);
    },
  };
};

/** Adds a stream to its subject's subscribers until it closes. */
const subscribe = (
  { followedSubjects, streams }: StreamRegistry,
  stream: Stream,
  { key, readSnapshot }: StreamSubject,
  fingerprint: string,
): void => {
  const subject = followedSubjects.get(key) ?? { readSnapshot, fingerprint, streams: new Set() };
  // Reads can finish out of order, so it is unknown which fingerprint is newer.
  if (subject.fingerprint !== fingerprint) subject.fingerprint = "";
  followedSubjects.set(key, subject);
  subject.streams.add(stream);
  streams.add(stream);
  stream.res.once("close", () => {
    streams.delete(stream);
    subject.streams.delete(stream);
    if (subject.streams.size === 0 && followedSubjects.get(key) === subject)
      followedSubjects.delete(key);
  });
};

/**
 * Counts streams per address. Returns a function that reserves a slot and returns its release
 * function.
 */
const createStreamSlots = (
  { total, perAddress }: EventStreamsOptions["limits"],
  { refused }: Counters,
) => {
  const slotCountByAddress = new Map<string, number>();
  let slotCount = 0;
  return (req: Request, res: Response): (() => void) => {
    const address = addressBucketId(req.ip ?? "");
    const addressCount = slotCountByAddress.get(address) ?? 0;
    const isFull = slotCount >= total;
    if (isFull || addressCount >= perAddress) {
      refused.inc({ bound: isFull ? "process" : "address" });
      res.setHeader("Retry-After", String(retryAfterSeconds));
      throw createApiError(isFull ? "SERVICE_UNAVAILABLE" : "429");
    }
    slotCount += 1;
    slotCountByAddress.set(address, addressCount + 1);
    return () => {
      slotCount -= 1;
      const remainingCount = (slotCountByAddress.get(address) ?? 1) - 1;
      if (remainingCount === 0) slotCountByAddress.delete(address);
      else slotCountByAddress.set(address, remainingCount);
    };
  };
};

/**
 * Returns a function that batches concurrent work, so that many callers can share a few statements.
 * Work that arrives while other work is running waits for it, and then all waiting work starts
 * together. Otherwise, work starts immediately.
 */
const createWorkBatcher = () => {
  let pendingWork: Promise<unknown> = Promise.resolve();
  let nextStart: Promise<void> | undefined;
  return async <Result>(operation: () => Promise<Result>): Promise<Result> => {
    nextStart ??= pendingWork.then(() => {
      nextStart = undefined;
    });
    await nextStart;
    const running = operation();
    // Discards the results. Otherwise, each promise would retain all earlier results.
    pendingWork = Promise.allSettled([pendingWork, running]).then(() => undefined);
    return running;
  };
};

const writeEvent = ({ clock, counters }: StreamContext, stream: Stream, text: string): void => {
  const { res } = stream;
  if (res.writableLength > bufferedBytesMax) {
    counters.ended.inc({ why: "slow" });
    res.destroy();
    return;
  }
  res.write(text);
  stream.writtenAtMs = clock.elapsedMs();
};

const drainStream = ({ clock, counters }: StreamContext, stream: Stream): void => {
  if (endStream(stream, clock.elapsedMs())) counters.ended.inc({ why: "drain" });
};

const endInBatches = async (
  context: StreamContext,
  openStreams: ReadonlySet<Stream>,
): Promise<void> => {
  const { batchIntervalMs, batchSizeMin, batchesMax } = drainBatching;
  const batchSize = Math.max(batchSizeMin, Math.ceil(openStreams.size / batchesMax));
  // Streams that start from now on end immediately, so they do not need to be added here.
  const remainingStreams = [...openStreams];
  while (remainingStreams.length > 0) {
    for (const stream of remainingStreams.splice(0, batchSize)) {
      if (openStreams.has(stream)) drainStream(context, stream);
    }
    if (remainingStreams.length > 0)
      await context.clock.sleepUntil(afterMs(context.clock, batchIntervalMs));
  }
};

const sendHeartbeat = (context: StreamContext, stream: Stream): void => {
  const writeComment = (comment: string) => writeEvent(context, stream, comment);
  if (maintainStream(stream, context.clock.elapsedMs(), writeComment))
    context.counters.ended.inc({ why: "lifetime" });
};

/**
 * Serializes a state as an event. The id depends only on the state, so every process can tell
 * whether a client already has that state.
 */
const formatEvent = (state: object): { id: string; text: string } => {
  const data = JSON.stringify(state);
  const id = createHash("sha256").update(data).digest("base64url").slice(0, 16);
  return { id, text: `id: ${id}\nevent: state\ndata: ${data}\n\n` };
};

const randomBetween = ({ min, max }: { min: number; max: number }): number =>
  Math.round(min + Math.random() * (max - min));

const createCounters = (metrics: Metrics, countOpenStreams: () => number) => {
  const registers = [metrics];
  const open = new Gauge({
    name: "payment_links_event_streams",
    help: "Open event streams",
    registers,
    collect() {
      this.set(countOpenStreams());
    },
  });
  const refused = new Counter({
    name: "payment_links_event_streams_refused_total",
    help: "Event streams rejected at the limit of the process or of the client's address",
    labelNames: ["bound"] as const,
    registers,
  });
  const ended = new Counter({
    name: "payment_links_event_streams_ended_total",
    help: "Event streams that the server ended: lifetime over, shutdown, or client not reading",
    labelNames: ["why"] as const,
    registers,
  });
  return { open, refused, ended };
};
