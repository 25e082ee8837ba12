/** One problem reported by the service. The message is for people; branch on the code. */
export type Problem = { code: string; message: string };

/**
 * An error response. A rejected call changed nothing. After a status of 500 or above, or if an
 * earlier try got no response, a create may have succeeded: repeat it with `idempotencyKey`, and
 * only one link exists.
 */
export class PaymentLinksError extends Error {
  readonly status: number;
  /**
   * The code of the first problem, such as `INVALID_API_KEY`. More codes may be added. It is
   * `HTTP_502` or similar if the response comes from a proxy instead of the service.
   */
  readonly code: string;
  /** All problems. A failed validation can have several. */
  readonly problems: readonly Problem[];
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined;
  /** The idempotency key of the failed create. */
  readonly idempotencyKey: string | undefined;

  constructor(
    status: number,
    problems: readonly Problem[],
    {
      requestId,
      idempotencyKey,
    }: { requestId?: string | undefined; idempotencyKey?: string | undefined },
  ) {
    const [firstProblem] = problems;
    const code = firstProblem?.code ?? `HTTP_${status}`;
    const firstMessage = firstProblem?.message ?? "The response is not from Payment Links.";
    super(`${code}: ${firstMessage}${requestId === undefined ? "" : ` (request ${requestId})`}`);
    this.name = "PaymentLinksError";
    this.status = status;
    this.code = code;
    this.problems = problems;
    this.requestId = requestId;
    this.idempotencyKey = idempotencyKey;
  }
}

/**
 * No response arrived; `cause` has the reason. A create may have succeeded: repeat it within 24
 * hours with `idempotencyKey` and exactly the same fields, and only one link exists.
 */
export class NoAnswerError extends Error {
  /** The idempotency key of the create without a response. */
  readonly idempotencyKey: string | undefined;

  constructor(cause: unknown, idempotencyKey: string | undefined) {
    super("No response from Payment Links", { cause });
    this.name = "NoAnswerError";
    this.idempotencyKey = idempotencyKey;
  }
}
