import type { ServerResponse } from "node:http";
import { type StreamResponse, endStream, maintainStream } from "@payment-links/http";
import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, startLoop } from "@payment-links/runtime";
import {
  type ListenerEvent,
  createListenerWebhook,
  formatStreamEvent,
} from "../domain/listener.ts";
import type { Link } from "../domain/link.ts";
import { serializeWebhookBody } from "../domain/webhook-body.ts";
import { findLinks } from "../store/links.ts";
import { listListenerEvents, readLastNumbers } from "../store/listeners.ts";

/** How often to look for events that other processes stored. */
const pollMs = 500;
/** After this time, the client connects again, so that its API key is checked again. */
const lifetimeMs = 60_000;
/** After this many events, the client connects again, which acknowledges them. */
const eventsPerStream = 100;
/** A client with more unread bytes than this gets no more events until it has read them. */
const bufferedBytesMax = 64 * 1024;
/** The maximum number of streams per process. */
const streamsMax = 300;

/** A listener whose client is connected. */
type ConnectedListener = {
  id: string;
  secret: string;
  /** The number of the last event that the client acknowledged. */
  acknowledgedNumber: number;
};

type Stream = ConnectedListener & StreamResponse & { sentNumber: number; sentCount: number };

/** The connections of listeners to this process (rule HOOK-22). */
export type ListenerStreams = {
  start(): void;
  /**
   * Returns whether the process can have a stream of this listener: it has one, which the new one
   * replaces, or it has not reached its maximum number.
   */
  hasRoom(id: string): boolean;
  /**
   * Sends a listener's events to a response whose headers are set. Replaces an earlier stream.
   * Requires `hasRoom`, without an `await` in between, so that the maximum holds under concurrency.
   */
  addStream(listener: ConnectedListener, res: ServerResponse): void;
  /** Looks for new events. Call it when events were stored. */
  wake(): void;
  /** Ends all streams, and every new one. Their clients connect to another process. */
  drain(): void;
  stop(): Promise<void>;
};

type ListenerStreamsOptions = { pool: Pool; clock: Clock; log: Log; headerPrefix: string };

/** Creates the connections of listeners. */
export const createListenerStreams = (options: ListenerStreamsOptions): ListenerStreams => {
  const { clock, log } = options;
  const streams = new Map<string, Stream>();
  let isDraining = false;
  let loop: Loop | undefined;
  const wake = () => loop?.wake();
  return {
    start: () => {
      const run = () => updateStreams(options, [...streams.values()]);
      loop = startLoop({ name: "webhook listeners", clock, log, waitMs: pollMs, run });
    },
    hasRoom: (id) => streams.has(id) || streams.size < streamsMax,
    addStream: (listener, res) => {
      const nowMs = clock.elapsedMs();
      const stream: Stream = {
        ...listener,
        res,
        sentNumber: listener.acknowledgedNumber,
        sentCount: 0,
        writtenAtMs: nowMs,
        endsAtMs: nowMs + lifetimeMs,
      };
      streams.get(stream.id)?.res.destroy();
      streams.set(stream.id, stream);
      res.once("close", () => {
        if (streams.get(stream.id) === stream) streams.delete(stream.id);
      });
      // Sends the headers, so that the client knows that it is connected.
      res.write(":\n\n");
      if (isDraining) endStream(stream, nowMs);
      wake();
    },
    wake,
    drain: () => {
      isDraining = true;
      for (const stream of streams.values()) endStream(stream, clock.elapsedMs());
    },
    stop: async () => loop?.stop(),
  };
};

const updateStreams = async (
  options: ListenerStreamsOptions,
  streams: readonly Stream[],
): Promise<void> => {
  const nowMs = options.clock.elapsedMs();
  for (const stream of streams) {
    maintainStream(stream, nowMs, (comment) => {
      stream.res.write(comment);
      stream.writtenAtMs = nowMs;
    });
  }
  const openStreams = streams.filter(({ res }) => !res.writableEnded && !res.destroyed);
  if (openStreams.length === 0) return;
  const ids = openStreams.map(({ id }) => id);
  const lastNumbers = await readLastNumbers(options.pool, ids);
  for (const stream of openStreams) {
    const lastNumber = lastNumbers.get(stream.id);
    if (lastNumber === undefined) endStream(stream, options.clock.elapsedMs());
    else if (lastNumber > stream.sentNumber) await sendEvents(options, stream);
  }
};

const sendEvents = async (options: ListenerStreamsOptions, stream: Stream): Promise<void> => {
  if (stream.res.writableLength > bufferedBytesMax) return;
  const limit = eventsPerStream - stream.sentCount;
  const page = { listenerId: stream.id, after: stream.sentNumber, limit };
  const events = await listListenerEvents(options.pool, page);
  const links = await findLinks(options.pool, [...new Set(events.map(({ linkId }) => linkId))]);
  const linksById = new Map(links.map((link) => [link.id, link]));
  if (stream.res.writableEnded || stream.res.destroyed) return;
  for (const event of events) sendEvent(options, stream, event, linksById.get(event.linkId));
  stream.writtenAtMs = options.clock.elapsedMs();
  if (stream.sentCount >= eventsPerStream) endStream(stream, stream.writtenAtMs);
};

const sendEvent = (
  { clock, headerPrefix: prefix }: ListenerStreamsOptions,
  stream: Stream,
  event: ListenerEvent,
  link: Link | undefined,
): void => {
  const { number } = event;
  const droppedCount = number - stream.sentNumber - 1;
  if (droppedCount > 0)
    stream.res.write(formatStreamEvent(number - 1, "dropped", { count: droppedCount }));
  stream.sentNumber = number;
  stream.sentCount += 1;
  if (link === undefined) return;
  const now = clock.now();
  const body = serializeWebhookBody(event, link, now);
  const { secret } = stream;
  const webhook = createListenerWebhook(event.id, body, { prefix, secret, now });
  stream.res.write(formatStreamEvent(number, "webhook", webhook));
};
