import type { CallOptions } from "./call-options.ts";
import { PaymentLinksError, WaitTimeoutError } from "./errors.ts";
import { requireIntegerInRange } from "./require-integer.ts";
import { isTemporaryError } from "./send-request.ts";
import type { RetrievedPaymentLink } from "./shapes.ts";
import type { Runtime } from "./runtime.ts";

export type WaitOptions = CallOptions & {
  /** Also ends the wait as soon as it returns true, for example at the first payment. */
  until?: ((link: RetrievedPaymentLink) => boolean) | undefined;
  /** The maximum duration of the wait, from 1 to 86,400,000 ms. Default: 600,000 ms. */
  timeoutMs?: number | undefined;
};

const defaultTimeoutMs = 600_000;
const timeoutMsMax = 86_400_000;
const initialDelayMs = 1_000;
const delayMsMax = 15_000;
const delayFactor = 1.5;
const jitterFraction = 0.25;

/**
 * Polls a link until it is no longer active. `retrieve` makes one attempt, which takes at most the
 * given time.
 */
export const waitForLink = async (
  retrieve: (timeoutMs: number) => Promise<RetrievedPaymentLink>,
  { signal, timeoutMs = defaultTimeoutMs, until = () => false }: WaitOptions,
  runtime: Runtime,
): Promise<RetrievedPaymentLink> => {
  requireIntegerInRange("timeoutMs", timeoutMs, timeoutMsMax);
  const deadlineMs = runtime.now() + timeoutMs;
  let lastLink: RetrievedPaymentLink | undefined;
  for (let pollNumber = 1; ; pollNumber += 1) {
    const remainingMs = Math.max(1, Math.ceil(deadlineMs - runtime.now()));
    const { error, link } = await poll(retrieve, remainingMs);
    if (link !== undefined) {
      lastLink = link;
      if (link.status !== "active" || until(link)) return link;
    }
    const leftMs = deadlineMs - runtime.now();
    const retryAfterMs = error instanceof PaymentLinksError ? error.retryAfterMs : 0;
    if (leftMs <= 0 || retryAfterMs > leftMs) {
      throw new WaitTimeoutError(timeoutMs, lastLink, error);
    }
    const delayMs = computeDelayMs(pollNumber, runtime.random());
    // The last attempt is at the end of the time.
    await runtime.wait(Math.max(retryAfterMs, Math.min(delayMs, leftMs)), signal);
  }
};

type PollResult =
  | { link: RetrievedPaymentLink; error?: undefined }
  | { link?: undefined; error: unknown };

/** Retrieves the link. Returns a temporary error, and throws any other one. */
const poll = async (
  retrieve: (timeoutMs: number) => Promise<RetrievedPaymentLink>,
  timeoutMs: number,
): Promise<PollResult> => {
  try {
    return { link: await retrieve(timeoutMs) };
  } catch (error) {
    if (!isTemporaryError(error)) throw error;
    return { error };
  }
};

const computeDelayMs = (pollNumber: number, random: number): number =>
  Math.min(initialDelayMs * delayFactor ** (pollNumber - 1), delayMsMax) *
  (1 + random * jitterFraction);
