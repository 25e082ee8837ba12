import { ROOT_CONTEXT, SpanKind, context, trace } from "@opentelemetry/api";
import {
  type Log,
  getActiveTraceparent,
  extractTraceContext,
  tracer,
} from "@payment-links/runtime";
import type { Attempt, Target } from "../../domain/attempt.ts";
import { createWebhookHeaders } from "../../domain/signature.ts";
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
  target: Target;
  body: string;
  startedAt: Date;
};

type AttemptOptions = {
  transport: Transport;
  log: Log;
  deadlines: Deadlines;
  headerPrefix: string;
};

/**
 * Makes one attempt and returns its outcome (rules HOOK-8 to HOOK-13). Never throws. One deadline
 * covers DNS, connect, TLS, headers and body. Does not start the attempt if the lease could expire
 * before the deadline.
 */
export const makeAttempt = async (
  options: AttemptOptions,
  attempt: CompleteAttempt,
): Promise<AttemptOutcome> => {
  const timeoutController = new AbortController();
  const deadline = options.deadlines.start(() => timeoutController.abort(new DeadlineError()));
  if (attempt.leaseUntil <= deadline.expiresAt) {
    deadline.cancel();
    return interruptedOutcome;
  }
  return await runInAttemptSpan(attempt, async () => {
    const outcome = await trySend(options, attempt, timeoutController.signal);
    deadline.cancel();
    const { error, httpStatus, kind } = outcome;
    const logFields = { event_id: attempt.delivery.id, outcome: kind, status: httpStatus, error };
    options.log.debug(logFields, "attempt ended");
    return outcome;
  });
};

const trySend = async (
  options: AttemptOptions,
  attempt: CompleteAttempt,
  signal: AbortSignal,
): Promise<AttemptOutcome> => {
  try {
    return await send(options, attempt, signal);
  } catch (error) {
    const failure = outcomeFromError(error);
    if (failure.kind === "internal") {
      options.log.error({ err: error, event_id: attempt.delivery.id }, "attempt failed internally");
    }
    return failure;
  }
};

/**
 * Runs the attempt in a span. A first attempt is part of its event's trace. Retries can continue
 * for hours, so each retry has its own trace with a link to the original one.
 */
const runInAttemptSpan = async (
  { delivery: { attempts, traceparent } }: CompleteAttempt,
  work: () => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> => {
  const isRetry = attempts > 1;
  const originContext = extractTraceContext(traceparent ?? undefined);
  const originSpanContext = trace.getSpanContext(originContext);
  const links = isRetry && originSpanContext !== undefined ? [{ context: originSpanContext }] : [];
  const parent = isRetry ? ROOT_CONTEXT : originContext;
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
  { transport, headerPrefix }: AttemptOptions,
  { delivery, target: { url, secret }, body, startedAt }: CompleteAttempt,
  signal: AbortSignal,
): Promise<AttemptOutcome> => {
  if (url === null) throw new BlockedAddressError();
  const signatureInput = { prefix: headerPrefix, secret, eventId: delivery.id, body };
  const traceparent = getActiveTraceparent();
  const status = await transport.post({
    url,
    headers: {
      ...createWebhookHeaders({ ...signatureInput, now: startedAt }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body,
    signal,
  });
  return outcomeFromStatus(status);
};
