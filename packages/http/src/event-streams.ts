import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { Counter, Gauge } from "prom-client";
import { createApiError } from "@payment-links/contracts";
import { addressBucketId } from "@payment-links/rate-limit";
import { type Clock, type Metrics, afterMs } from "@payment-links/runtime";
import { exemptConnection } from "./connections.ts";

/** How often streams are looked after. */
const heartbeatIntervalMs = 1_000;
/** No reader, and no proxy between, hears nothing for longer. */
const silenceMsMax = 15_000;
/** Streams end between these, each at a time of its own, so that they spread over new processes. */
const lifetimeMs = { min: 10 * 60_000, max: 15 * 60_000 };
/** How long a browser waits until it comes again, each a time of its own. */
const retryMs = { min: 1_000, max: 3_000 };
/** A reader for whom more than this waits reads no more. */
const bufferedBytesMax = 64 * 1024;
/** An ended stream's last bytes have so long to be taken. */
const closeMsMax = 10_000;
/**
 * A stop ends streams by turns, so that others open them as they come: a few each turn, or as many more
 * as end all within five seconds.
 */
const drainBatching = { batchIntervalMs: 100, batchSizeMin: 20, batchesMax: 50 };
const retryAfterSeconds = 10;

/** How a subject stands, and the mark by which it is known later whether it still stands so. */
export type Snapshot = { fingerprint: string; state: object };

/** What is followed: a thing, as one kind of follower sees it. */
export type StreamSubject = {
  /** Equal for all who are told the same. */
  key: string;
  /** The mark is read before the state: then no change can fall between the two. */
  readSnapshot: () => Promise<Snapshot>;
};

/** Server-sent events: each stream tells how a subject stands, at once and whenever that has changed. */
export type EventStreams = {
  /**
   * Answers with a stream of a subject. Throws 503 or 429, and says when to try again, if the process or
   * the caller's address has all the streams that it may have; and what the look throws.
   */
  startStream(req: Request, res: Response, subject: StreamSubject): Promise<void>;
  /** The mark of everything that is followed, as last told. */
  listFingerprints(): readonly { key: string; fingerprint: string }[];
  /** Looks at a subject that seems to have changed, and tells those who follow it. */
  publishUpdate(key: string): Promise<void>;
  readonly heartbeatIntervalMs: number;
  /** Done each `heartbeatIntervalMs`: silent streams are told that they live, and those that lived long enough end. */
  sendHeartbeats(): void;
  /**
   * Ends all within five seconds, a few at a time; they hear of changes until then. Whoever comes later
   * is told how things stand, and to come again.
   */
  drain(): void;
};

type EventStreamsOptions = {
  clock: Clock;
  metrics: Metrics;
  /** Streams at once, of this process and of one source address (an IPv6 /64). */
  limits: { total: number; perAddress: number };
};

type Stream = {
  res: Response;
  /** The id of the state that was told last. */
  lastEventId: string;
  /** By the clock's `elapsedMs`. */
  writtenAtMs: number;
  endsAtMs: number;
};

type FollowedSubject = {
  readSnapshot: StreamSubject["readSnapshot"];
  fingerprint: string;
  streams: Set<Stream>;
};

type Counters = ReturnType<typeof createCounters>;
type StreamContext = { clock: Clock; counters: Counters };
type StreamRegistry = { followedSubjects: Map<string, FollowedSubject>; streams: Set<Stream> };

/** Makes the one place of a process in which its event streams are. */
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
      // Whoever has left already says so no more, and would keep a place for ever.
      if (res.destroyed) return;
      res.once("close", reserveSlot(req, res));
      const { fingerprint, state } = await batchReads(subject.readSnapshot);
      if (res.destroyed) return;
      writeHead(res);
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
      if (isDraining) endStream(context, stream, "drain");
    },
    listFingerprints: () =>
      [...followedSubjects].map(([key, { fingerprint }]) => ({ key, fingerprint })),
    publishUpdate: async (key) => {
      const subject = followedSubjects.get(key);
      if (subject === undefined) return;
      // Whoever comes during the look may have seen what is newer, or older: the next look is for them.
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
      for (const stream of streams) maintainStream(context, stream);
    },
    drain: () => {
      if (isDraining) return;
      isDraining = true;
      void endInBatches(context, streams);
    },
  };
};

/** Adds a stream to its subject's followers, until it is closed. */
const subscribe = (
  { followedSubjects, streams }: StreamRegistry,
  stream: Stream,
  { key, readSnapshot }: StreamSubject,
  fingerprint: string,
): void => {
  const subject = followedSubjects.get(key) ?? { readSnapshot, fingerprint, streams: new Set() };
  // Whoever looked first may come last: then nobody knows which of the two was later.
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

/** Counts the streams of each address; answers how to take a place, which answers how to give it back. */
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
 * Has work that comes while other work is under way wait for that, and then begin all at once: the fewer
 * are the statements that read for many. Who comes alone waits for nobody.
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
    // Without their results, or each would keep all those before it.
    pendingWork = Promise.allSettled([pendingWork, running]).then(() => undefined);
    return running;
  };
};

const writeHead = (res: Response): void => {
  res.setHeader("Content-Type", "text/event-stream");
  res.setHeader("Cache-Control", "no-store, no-transform");
  res.setHeader("X-Accel-Buffering", "no");
  // A stream's connection is its own, so that nothing of it is left once it has ended.
  res.setHeader("Connection", "close");
  exemptConnection(res);
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

const endStream = (
  { clock, counters }: StreamContext,
  stream: Stream,
  reason: "lifetime" | "drain",
): void => {
  if (stream.res.writableEnded) return;
  counters.ended.inc({ why: reason });
  stream.endsAtMs = clock.elapsedMs();
  stream.res.end();
};

const neverAborted = new AbortController().signal;

const endInBatches = async (
  context: StreamContext,
  openStreams: ReadonlySet<Stream>,
): Promise<void> => {
  const { batchIntervalMs, batchSizeMin, batchesMax } = drainBatching;
  const batchSize = Math.max(batchSizeMin, Math.ceil(openStreams.size / batchesMax));
  // Whoever comes from now on is ended at once, so that nobody joins these.
  const remainingStreams = [...openStreams];
  while (remainingStreams.length > 0) {
    for (const stream of remainingStreams.splice(0, batchSize)) {
      if (openStreams.has(stream)) endStream(context, stream, "drain");
    }
    if (remainingStreams.length > 0)
      await context.clock.sleepUntil(afterMs(context.clock, batchIntervalMs), neverAborted);
  }
};

const maintainStream = (context: StreamContext, stream: Stream): void => {
  const { endsAtMs, res, writtenAtMs } = stream;
  const nowMs = context.clock.elapsedMs();
  if (res.writableEnded) {
    if (nowMs >= endsAtMs + closeMsMax) res.destroy();
  } else if (nowMs >= endsAtMs) endStream(context, stream, "lifetime");
  else if (nowMs >= writtenAtMs + silenceMsMax - heartbeatIntervalMs)
    writeEvent(context, stream, ":\n\n");
};

/** A state's id is made of the state alone, so that every process knows what a reader was told. */
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
    help: "Event streams that are open",
    registers,
    collect() {
      this.set(countOpenStreams());
    },
  });
  const refused = new Counter({
    name: "payment_links_event_streams_refused_total",
    help: "Event streams refused, as the process or the caller's address had all that it may have",
    labelNames: ["bound"] as const,
    registers,
  });
  const ended = new Counter({
    name: "payment_links_event_streams_ended_total",
    help: "Event streams that we ended: after their lifetime, at a stop, or as nobody read them",
    labelNames: ["why"] as const,
    registers,
  });
  return { open, refused, ended };
};
