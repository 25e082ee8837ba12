import { ROOT_CONTEXT, SpanKind, context, trace } from "@opentelemetry/api";
import {
  type Clock,
  type Log,
  activeTraceparent,
  continueTrace,
  tracer,
} from "@payment-links/runtime";
import type { Link } from "../../domain/link.ts";
import { signatureHeaders } from "../../domain/signature.ts";
import { type WebhookEvent, writeWebhookBody } from "../../domain/webhook-body.ts";
import { BlockedAddressError } from "../../guard/resolve-public.ts";
import {
  type AttemptOutcome,
  DeadlineError,
  interruptedOutcome,
  outcomeOfError,
  outcomeOfStatus,
} from "./attempt-outcome.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Transport } from "./transport.ts";

/** Everything that one attempt needs; nothing is read while it is made. */
export type Attempt = {
  event: WebhookEvent;
  link: Link;
  /** Where it goes and what signs it; null if its URL may not be called, or no longer. */
  url: URL | null;
  secret: string;
  traceparent: string | null;
  isRetry: boolean;
  leaseUntil: Date;
};

type AttemptOptions = {
  transport: Transport;
  clock: Clock;
  log: Log;
  deadlines: Deadlines;
  headerPrefix: string;
};

/**
 * Makes one attempt and reports how it ended; never throws (rules HOOK-8 to HOOK-13). One deadline
 * covers DNS, connect, TLS, headers and body. The attempt is not begun if the lease could end
 * before it.
 */
export const makeAttempt = async (
  options: AttemptOptions,
  attempt: Attempt,
): Promise<AttemptOutcome> => {
  const expiry = new AbortController();
  const deadline = options.deadlines.begin(() => expiry.abort(new DeadlineError()));
  if (attempt.leaseUntil <= deadline.at) {
    deadline.end();
    return interruptedOutcome;
  }
  return await inAttemptSpan(attempt, async () => {
    const outcome = await tryToSend(options, attempt, expiry.signal);
    deadline.end();
    const { error, httpStatus, kind } = outcome;
    const ended = { event_id: attempt.event.id, outcome: kind, status: httpStatus, error };
    options.log.debug(ended, "an attempt ended");
    return outcome;
  });
};

const tryToSend = async (
  options: AttemptOptions,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<AttemptOutcome> => {
  try {
    return await send(options, attempt, signal);
  } catch (error) {
    const failure = outcomeOfError(error);
    if (failure.kind === "internal") {
      options.log.error(
        { err: error, event_id: attempt.event.id },
        "an attempt failed on our side",
      );
    }
    return failure;
  }
};

/**
 * A first attempt is part of its event's trace. Retries go on for hours, so each has a trace of its
 * own that links back.
 */
const inAttemptSpan = async (
  { traceparent, isRetry }: Attempt,
  work: () => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> => {
  const origin = continueTrace(traceparent ?? undefined);
  const told = trace.getSpanContext(origin);
  const links = isRetry && told !== undefined ? [{ context: told }] : [];
  const parent = isRetry ? ROOT_CONTEXT : origin;
  const span = tracer.startSpan("webhook attempt", { kind: SpanKind.CLIENT, links }, parent);
  const outcome = await context.with(trace.setSpan(parent, span), work);
  if (outcome.kind !== "delivered") span.setAttribute("error.type", outcome.kind);
  if (outcome.httpStatus !== null) {
    span.setAttribute("http.response.status_code", outcome.httpStatus);
  }
  span.end();
  return outcome;
};

const send = async (
  { transport, clock, headerPrefix }: AttemptOptions,
  { event, link, url, secret }: Attempt,
  signal: AbortSignal,
): Promise<AttemptOutcome> => {
  if (url === null) throw new BlockedAddressError();
  const now = clock.now();
  const body = writeWebhookBody(event, link, now);
  const traceparent = activeTraceparent();
  const status = await transport.post({
    url,
    headers: {
      "Content-Type": "application/json",
      "User-Agent": "PaymentLinks-Webhooks/1.0",
      "Accept-Encoding": "identity",
      ...signatureHeaders({ prefix: headerPrefix, secret, eventId: event.id, body, now }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body,
    signal,
  });
  return outcomeOfStatus(status);
};
