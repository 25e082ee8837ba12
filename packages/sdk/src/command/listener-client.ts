import { PaymentLinksError } from "../errors.ts";
import { createResponseError, isTemporaryError } from "../send-request.ts";
import { callService, createFetchOptions } from "./call-service.ts";
import type { Terminal } from "./command.ts";
import { type StreamEvent, parseEventStream } from "./event-stream.ts";

/** A listener at the service. Its secret signs its webhooks. */
export type Listener = { id: string; secret: string; headerPrefix: string };

type ListenerOptions = {
  url: string;
  apiKey: string;
  terminal: Pick<Terminal, "printNote" | "random" | "signal" | "wait">;
  /** Called with each new listener: the first one, and one after each that ended at the service. */
  onListener: (listener: Listener) => void;
  /** Handles an event. It is acknowledged when the returned promise is fulfilled. */
  onEvent: (event: StreamEvent) => Promise<void>;
};

const path = "/command/webhook-listeners";
const connectMsMax = 10_000;
/** The service sends a comment after 15 s without an event. */
const silenceMsMax = 45_000;
const backoffMs = { initial: 500, max: 30_000 };
/** The time to end the listener after Ctrl-C. */
const endMsMax = 3_000;

/**
 * Receives an account's webhooks until the signal aborts. Connects again after every error, with
 * growing delays. Throws a `PaymentLinksError` if a repeat would get the same error, for example
 * with a revoked key. Ends the listener before it returns.
 */
export const receiveWebhooks = async (options: ListenerOptions): Promise<void> => {
  const { signal } = options.terminal;
  let listener: Listener | undefined;
  let lastEventId: string | undefined;
  let failures = 0;
  try {
    while (!signal.aborted) {
      try {
        if (listener === undefined) {
          listener = await createListener(options);
          lastEventId = undefined;
          options.onListener(listener);
        }
        let eventCount = 0;
        for await (const event of followListener(options, listener, lastEventId)) {
          if (failures > 0) options.terminal.printNote("Connected.");
          failures = 0;
          if (event === undefined) continue;
          await options.onEvent(event);
          lastEventId = event.id;
          eventCount += 1;
        }
        // The service can end a stream immediately, for example while it shuts down.
        if (eventCount === 0) await waitBeforeRetry(options.terminal, 1);
      } catch (error) {
        if (signal.aborted) return;
        const responseError = error instanceof PaymentLinksError ? error : undefined;
        if (responseError !== undefined && !isTemporaryError(error)) {
          // Anything but the end of a listener is an error that a repeat would get again.
          if (responseError.status !== 404 || listener === undefined) throw error;
          options.terminal.printNote("The listener ended at the service. Events may be missing.");
          listener = undefined;
        }
        failures += 1;
        if (failures === 1) options.terminal.printNote("Connection lost. Connecting again …");
        await waitBeforeRetry(options.terminal, failures, responseError?.retryAfterMs);
      }
    }
  } finally {
    if (listener !== undefined) await endListener(options, listener);
  }
};

const createListener = async ({ url, apiKey, terminal }: ListenerOptions): Promise<Listener> =>
  (await callService({ url, apiKey, method: "POST", path, signal: terminal.signal })) as Listener;

/** Yields the events of one connection, and undefined for other data. */
async function* followListener(
  { url, apiKey, terminal }: ListenerOptions,
  { id }: Listener,
  lastEventId: string | undefined,
): AsyncGenerator<StreamEvent | undefined, void, undefined> {
  const controller = new AbortController();
  const abort = () => controller.abort(terminal.signal.reason);
  terminal.signal.addEventListener("abort", abort, { once: true });
  let timer = setTimeout(() => controller.abort(new Error("no response")), connectMsMax);
  const restartTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(new Error("no data")), silenceMsMax);
  };
  try {
    const headers = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
    const call = { url, apiKey, method: "GET", path, headers, signal: controller.signal } as const;
    const response = await fetch(`${url}${path}/${id}/events`, {
      ...createFetchOptions(call),
      signal: controller.signal,
    });
    if (response.status !== 200 || response.body === null) {
      throw createResponseError(response, await response.text(), { origin: url });
    }
    restartTimer();
    for await (const event of parseEventStream(response.body)) {
      // While the receiver handles an event, the connection is not read.
      clearTimeout(timer);
      yield event;
      restartTimer();
    }
  } finally {
    clearTimeout(timer);
    terminal.signal.removeEventListener("abort", abort);
    controller.abort();
  }
}

/** Deletes the listener. If this fails, it ends at the service after 5 minutes. */
const endListener = async ({ url, apiKey }: ListenerOptions, { id }: Listener): Promise<void> => {
  const signal = AbortSignal.timeout(endMsMax);
  await callService({ url, apiKey, method: "DELETE", path: `${path}/${id}`, signal }).catch(
    () => {},
  );
};

const waitBeforeRetry = async (
  { random, signal, wait }: ListenerOptions["terminal"],
  failures: number,
  retryAfterMs = 0,
): Promise<void> => {
  const delayMs = Math.min(backoffMs.initial * 2 ** Math.min(failures - 1, 16), backoffMs.max);
  const minDelayMs = Math.min(retryAfterMs, backoffMs.max);
  await wait(Math.max(delayMs * (0.5 + random() / 2), minDelayMs), signal).catch(() => {});
};
