import type { RetrievedPaymentLink } from "./shapes.ts";

/** One problem reported by the service. The message is for people. In code, check the `code`. */
export type Problem = { code: string; message: string };

/**
 * An error response. The rejected call did not change anything, with one exception: if the status
 * is 500 or above, or if an earlier attempt got no response, a create may have succeeded. Repeat it
 * with `idempotencyKey`. This never creates a second link.
 */
export class PaymentLinksError extends Error {
  readonly status: number;
  /**
   * The code of the first problem, such as `INVALID_API_KEY`. More codes may be added. If the
   * response comes from a proxy instead of the service, the code is `HTTP_502` or similar.
   */
  readonly code: string;
  /** All problems. A failed validation can report several. */
  readonly problems: readonly Problem[];
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined;
  /** The idempotency key of the failed create. */
  readonly idempotencyKey: string | undefined;
  /**
   * The delay that the response asks for with `Retry-After`, in milliseconds. 0 if there is none.
   */
  readonly retryAfterMs: number;

  constructor(
    status: number,
    problems: readonly Problem[],
    {
      requestId,
      idempotencyKey,
      origin = "the service",
      retryAfterMs = 0,
    }: {
      requestId?: string | undefined;
      idempotencyKey?: string | undefined;
      /** The origin that was called. */
      origin?: string | undefined;
      retryAfterMs?: number | undefined;
    },
  ) {
    const [firstProblem] = problems;
    const code = firstProblem?.code ?? `HTTP_${status}`;
    const firstMessage =
      firstProblem?.message ??
      `The response from ${origin} is not from Payment Links. Check the \`url\` of createPaymentLinks.`;
    super(`${code}: ${firstMessage}${requestId === undefined ? "" : ` (request ${requestId})`}`);
    this.name = "PaymentLinksError";
    this.status = status;
    this.code = code;
    this.problems = problems;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * No response arrived. `cause` contains the reason. A create may have succeeded. Repeat it within
 * 24 hours with `idempotencyKey` and exactly the same fields. This never creates a second link.
 */
export class NoAnswerError extends Error {
  /** The idempotency key of the create that got no response. */
  readonly idempotencyKey: string | undefined;

  constructor(cause: unknown, idempotencyKey: string | undefined, origin = "the service") {
    super(
      `No response from Payment Links at ${origin}. If this is not its address, change the \`url\` of createPaymentLinks`,
      { cause },
    );
    this.name = "NoAnswerError";
    this.idempotencyKey = idempotencyKey;
  }
}

/** The wait for a link ended because its time is over. The link may still get a payment. */
export class WaitTimeoutError extends Error {
  /** The link as it was last retrieved. Undefined if no attempt succeeded. */
  readonly link: RetrievedPaymentLink | undefined;

  /** `cause` is the error of the last attempt, if it failed. */
  constructor(timeoutMs: number, link: RetrievedPaymentLink | undefined, cause: unknown) {
    super(`The link did not reach the awaited state within ${timeoutMs} ms`, { cause });
    this.name = "WaitTimeoutError";
    this.link = link;
  }
}
