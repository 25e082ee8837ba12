import { ROOT_CONTEXT, SpanKind, context, trace } from "@opentelemetry/api";
import {
  type Log,
  getActiveTraceparent,
  extractTraceContext,
  tracer,
} from "@payment-links/runtime";
import type { Attempt, Target } from "../../domain/attempt.ts";
import type { Link } from "../../domain/link.ts";
import { createWebhookHeaders } from "../../domain/signature.ts";
import { serializeWebhookBody } from "../../domain/webhook-body.ts";
import { BlockedAddressError } from "../../guard/resolve-public.ts";
import {
  type AttemptOutcome,
  DeadlineError,
  interruptedOutcome,
  outcomeFromError,
  outcomeFromStatus,
} from "./attempt-outcome.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Transport } from "./transport.ts";

/** An attempt that has everything it needs. It is signed at `startedAt`. */
type CompleteAttempt = Pick<Attempt, "delivery" | "leaseUntil"> & {
  link: Link;
  target: Target;
  startedAt: Date;
};

/** How an attempt ended, and the body that it sent. The body is null if nothing was sent. */
export type AttemptResult = { outcome: AttemptOutcome; sentBody: string | null };

type AttemptOptions = {
  transport: Transport;
  log: Log;
  deadlines: Deadlines;
  headerPrefix: string;
};

/**
 * Makes one attempt and returns how it ended (rules HOOK-8 to HOOK-13). Never throws. One deadline
 * covers DNS, connect, TLS, headers and body. Does not start the attempt if the lease could expire
 * before the deadline.
 */
export const makeAttempt = async (
  options: AttemptOptions,
  attempt: CompleteAttempt,
): Promise<AttemptResult> => {
  const timeoutController = new AbortController();
  const deadline = options.deadlines.start(() => timeoutController.abort(new DeadlineError()));
  if (attempt.leaseUntil <= deadline.expiresAt) {
    deadline.cancel();
    return { outcome: interruptedOutcome, sentBody: null };
  }
  return await runInAttemptSpan(attempt, async () => {
    const result = await trySend(options, attempt, timeoutController.signal);
    deadline.cancel();
    const { error, httpStatus, kind } = result.outcome;
    const logFields = { event_id: attempt.delivery.id, outcome: kind, status: httpStatus, error };
    options.log.debug(logFields, "attempt ended");
    return result;
  });
};

const trySend = async (
  options: AttemptOptions,
  attempt: CompleteAttempt,
  signal: AbortSignal,
): Promise<AttemptResult> => {
  const {
    delivery,
    link,
    startedAt: now,
    target: { url, secret },
  } = attempt;
  let sentBody: string | null = null;
  try {
    if (url === null) throw new BlockedAddressError();
    sentBody = serializeWebhookBody(delivery, link, now);
    const request = { eventId: delivery.id, url, secret, body: sentBody, now, signal };
    return { outcome: await send(options, request), sentBody };
  } catch (error) {
    const outcome = outcomeFromError(error);
    if (outcome.kind === "internal") {
      options.log.error({ err: error, event_id: delivery.id }, "attempt failed internally");
    }
    return { outcome, sentBody };
  }
};

/**
 * Runs the attempt in a span. A first attempt is part of its event's trace. Retries can continue
 * for hours, so each retry has its own trace with a link to the original one.
 */
const runInAttemptSpan = async (
  { delivery: { attempts, traceparent } }: CompleteAttempt,
  work: () => Promise<AttemptResult>,
): Promise<AttemptResult> => {
  const isRetry = attempts > 1;
  const originContext = extractTraceContext(traceparent ?? undefined);
  const originSpanContext = trace.getSpanContext(originContext);
  const links = isRetry && originSpanContext !== undefined ? [{ context: originSpanContext }] : [];
  const parent = isRetry ? ROOT_CONTEXT : originContext;
  const span = tracer.startSpan("webhook attempt", { kind: SpanKind.CLIENT, links }, parent);
  const result = await context.with(trace.setSpan(parent, span), work);
  const { outcome } = result;
  if (outcome.kind !== "delivered") span.setAttribute("error.type", outcome.kind);
  if (outcome.httpStatus !== null) {
    span.setAttribute("http.response.status_code", outcome.httpStatus);
  }
  span.end();
  return result;
};

type WebhookRequest = {
  eventId: string;
  url: URL;
  secret: string;
  body: string;
  now: Date;
  signal: AbortSignal;
};

const send = async (
  { transport, headerPrefix }: AttemptOptions,
  { url, signal, ...signatureInput }: WebhookRequest,
): Promise<AttemptOutcome> => {
  const traceparent = getActiveTraceparent();
  const status = await transport.post({
    url,
    headers: {
      ...createWebhookHeaders({ prefix: headerPrefix, ...signatureInput }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body: signatureInput.body,
    signal,
  });
  return outcomeFromStatus(status);
};
