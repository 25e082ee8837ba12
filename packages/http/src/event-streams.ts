import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { Counter, Gauge } from "prom-client";
import { refuse } from "@payment-links/contracts";
import { addressBucketId } from "@payment-links/rate-limit";
import { type Clock, type Metrics, afterMs } from "@payment-links/runtime";
import { setApart } from "./connections.ts";

/** How often streams are looked after. */
const beatMs = 1_000;
/** No reader, and no proxy between, hears nothing for longer. */
const silenceMsMax = 15_000;
/** Streams end between these, each at a time of its own, so that they spread over new processes. */
const lifetimeMs = { least: 10 * 60_000, most: 15 * 60_000 };
/** How long a browser waits until it comes again, each a time of its own. */
const retryMs = { least: 1_000, most: 3_000 };
/** A reader for whom more than this waits reads no more. */
const waitingBytesMax = 64 * 1024;
/** An ended stream's last bytes have so long to be taken. */
const endMsMax = 10_000;
/**
 * A stop ends streams by turns, so that others open them as they come: a few each turn, or as many more
 * as end all within five seconds.
 */
const draining = { turnMs: 100, streamsMin: 20, turnsMax: 50 };
const retryAfterSeconds = 10;

/** How a subject stands, and the mark by which it is known later whether it still stands so. */
export type Look = { mark: string; state: object };

/** What is followed: a thing, as one kind of follower sees it. */
export type Subject = {
  /** Equal for all who are told the same. */
  key: string;
  /** The mark is read before the state: then no change can fall between the two. */
  look: () => Promise<Look>;
};

/** Server-sent events: each stream tells how a subject stands, at once and whenever that has changed. */
export type EventStreams = {
  /**
   * Answers with a stream of a subject. Throws 503 or 429, and says when to try again, if the process or
   * the caller's address has all the streams that it may have; and what the look throws.
   */
  open(req: Request, res: Response, subject: Subject): Promise<void>;
  /** The mark of everything that is followed, as last told. */
  marks(): readonly { key: string; mark: string }[];
  /** Looks at a subject that seems to have changed, and tells those who follow it. */
  tell(key: string): Promise<void>;
  readonly beatMs: number;
  /** Done each `beatMs`: silent streams are told that they live, and those that lived long enough end. */
  beat(): void;
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
  limits: { inAll: number; perAddress: number };
};

type Stream = {
  res: Response;
  /** The id of the state that was told last. */
  toldId: string;
  /** By the clock's `elapsedMs`. */
  writtenAtMs: number;
  endsAtMs: number;
};

type Followed = { look: Subject["look"]; mark: string; streams: Set<Stream> };

type Counters = ReturnType<typeof createCounters>;
type Given = { clock: Clock; counters: Counters };

/** Makes the one place of a process in which its event streams are. */
export const createEventStreams = ({
  clock,
  metrics,
  limits,
}: EventStreamsOptions): EventStreams => {
  const followed = new Map<string, Followed>();
  const streams = new Set<Stream>();
  let isDraining = false;
  const counters = createCounters(metrics, () => streams.size);
  const given = { clock, counters };
  const take = createPlaces(limits, counters);
  const openTogether = gatherWork();

  const join = (stream: Stream, { key, look }: Subject, mark: string): void => {
    const subject = followed.get(key) ?? { look, mark, streams: new Set() };
    // Whoever looked first may come last: then nobody knows which of the two was later.
    if (subject.mark !== mark) subject.mark = "";
    followed.set(key, subject);
    subject.streams.add(stream);
    streams.add(stream);
    stream.res.once("close", () => {
      streams.delete(stream);
      subject.streams.delete(stream);
      if (subject.streams.size === 0 && followed.get(key) === subject) followed.delete(key);
    });
  };

  return {
    open: async (req, res, subject) => {
      // Whoever has left already says so no more, and would keep a place for ever.
      if (res.destroyed) return;
      res.once("close", take(req, res));
      const { mark, state } = await openTogether(subject.look);
      if (res.destroyed) return;
      writeHead(res);
      if (req.method === "HEAD") return void res.end();
      const { id, text } = eventOf(state);
      const now = clock.elapsedMs();
      const endsAtMs = now + drawn(lifetimeMs);
      const stream: Stream = { res, toldId: id, writtenAtMs: now, endsAtMs };
      join(stream, subject, mark);
      const retry = `retry: ${drawn(retryMs)}\n`;
      write(given, stream, req.get("last-event-id") === id ? `${retry}\n` : `${retry}${text}`);
      if (isDraining) end(given, stream, "drain");
    },
    marks: () => [...followed].map(([key, { mark }]) => ({ key, mark })),
    tell: async (key) => {
      const subject = followed.get(key);
      if (subject === undefined) return;
      // Whoever comes during the look may have seen what is newer, or older: the next look is for them.
      const present = new Set(subject.streams);
      const { mark, state } = await subject.look();
      const isToldToAll = [...subject.streams].every((stream) => present.has(stream));
      subject.mark = isToldToAll ? mark : "";
      const { id, text } = eventOf(state);
      for (const stream of present) {
        if (stream.toldId === id || stream.res.writableEnded || stream.res.destroyed) continue;
        stream.toldId = id;
        write(given, stream, text);
      }
    },
    beatMs,
    beat: () => {
      for (const stream of streams) lookAfter(given, stream);
    },
    drain: () => {
      if (isDraining) return;
      isDraining = true;
      void endByTurns(given, streams);
    },
  };
};

/** Counts the streams of each address; answers how to take a place, which answers how to give it back. */
const createPlaces = (
  { inAll, perAddress }: EventStreamsOptions["limits"],
  { refused }: Counters,
) => {
  const takenBy = new Map<string, number>();
  let takenCount = 0;
  return (req: Request, res: Response): (() => void) => {
    const address = addressBucketId(req.ip ?? "");
    const ownCount = takenBy.get(address) ?? 0;
    const isFull = takenCount >= inAll;
    if (isFull || ownCount >= perAddress) {
      refused.inc({ bound: isFull ? "process" : "address" });
      res.setHeader("Retry-After", String(retryAfterSeconds));
      throw refuse(isFull ? "SERVICE_UNAVAILABLE" : "429");
    }
    takenCount += 1;
    takenBy.set(address, ownCount + 1);
    return () => {
      takenCount -= 1;
      const left = (takenBy.get(address) ?? 1) - 1;
      if (left === 0) takenBy.delete(address);
      else takenBy.set(address, left);
    };
  };
};

/**
 * Has work that comes while other work is under way wait for that, and then begin all at once: the fewer
 * are the statements that read for many. Who comes alone waits for nobody.
 */
const gatherWork = () => {
  let underWay: Promise<unknown> = Promise.resolve();
  let start: Promise<void> | undefined;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    start ??= underWay.then(() => {
      start = undefined;
    });
    await start;
    const working = work();
    // Without their results, or each would keep all those before it.
    underWay = Promise.allSettled([underWay, working]).then(() => undefined);
    return working;
  };
};

const writeHead = (res: Response): void => {
  res.setHeader("Content-Type", "text/event-stream");
  res.setHeader("Cache-Control", "no-store, no-transform");
  res.setHeader("X-Accel-Buffering", "no");
  // A stream's connection is its own, so that nothing of it is left once it has ended.
  res.setHeader("Connection", "close");
  setApart(res);
};

const write = ({ clock, counters }: Given, stream: Stream, text: string): void => {
  const { res } = stream;
  if (res.writableLength > waitingBytesMax) {
    counters.ended.inc({ why: "slow" });
    res.destroy();
    return;
  }
  res.write(text);
  stream.writtenAtMs = clock.elapsedMs();
};

const end = ({ clock, counters }: Given, stream: Stream, why: "lifetime" | "drain"): void => {
  if (stream.res.writableEnded) return;
  counters.ended.inc({ why });
  stream.endsAtMs = clock.elapsedMs();
  stream.res.end();
};

const never = new AbortController().signal;

const endByTurns = async (given: Given, open: ReadonlySet<Stream>): Promise<void> => {
  const { turnMs, streamsMin, turnsMax } = draining;
  const atOnce = Math.max(streamsMin, Math.ceil(open.size / turnsMax));
  // Whoever comes from now on is ended at once, so that nobody joins these.
  const leaving = [...open];
  while (leaving.length > 0) {
    for (const stream of leaving.splice(0, atOnce)) {
      if (open.has(stream)) end(given, stream, "drain");
    }
    if (leaving.length > 0) await given.clock.until(afterMs(given.clock, turnMs), never);
  }
};

const lookAfter = (given: Given, stream: Stream): void => {
  const { endsAtMs, res, writtenAtMs } = stream;
  const now = given.clock.elapsedMs();
  if (res.writableEnded) {
    if (now >= endsAtMs + endMsMax) res.destroy();
  } else if (now >= endsAtMs) end(given, stream, "lifetime");
  else if (now >= writtenAtMs + silenceMsMax - beatMs) write(given, stream, ":\n\n");
};

/** A state's id is made of the state alone, so that every process knows what a reader was told. */
const eventOf = (state: object): { id: string; text: string } => {
  const data = JSON.stringify(state);
  const id = createHash("sha256").update(data).digest("base64url").slice(0, 16);
  return { id, text: `id: ${id}\nevent: state\ndata: ${data}\n\n` };
};

const drawn = ({ least, most }: { least: number; most: number }): number =>
  Math.round(least + Math.random() * (most - least));

const createCounters = (metrics: Metrics, countOpen: () => number) => {
  const registers = [metrics];
  const open = new Gauge({
    name: "payment_links_event_streams",
    help: "Event streams that are open",
    registers,
    collect() {
      this.set(countOpen());
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
