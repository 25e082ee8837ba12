/** One problem as the service tells it. The message is for people; branch on the code. */
export type Problem = { code: string; message: string };

/**
 * The service's answer that a call is refused or has failed. A refused try changed nothing; after a
 * status of 500 or above, or where an earlier try had no answer, a create may have been done all the
 * same: call it again under `idempotencyKey`, and there will be one link.
 */
export class PaymentLinksError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /**
   * The first problem's code, such as `INVALID_API_KEY`; the set is open. `HTTP_502` and its like where
   * something in between has answered in the service's place.
   */
  readonly code: string;
  /** All problems: validation tells several. */
  readonly problems: readonly Problem[];
  /** By it whoever runs the service finds the request in the log. */
  readonly requestId: string | undefined;
  /** The key of the create that was answered so. */
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
    const firstMessage = firstProblem?.message ?? "The answer is not one of Payment Links.";
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
 * No answer of the service came, as its `cause` tells. A create may have been done all the same: call it
 * again under `idempotencyKey`, within 24 hours and with the same words, and there will be one link.
 */
export class NoAnswerError extends Error {
  /** The key of the create that was not answered. */
  readonly idempotencyKey: string | undefined;

  constructor(cause: unknown, idempotencyKey: string | undefined) {
    super("No answer of Payment Links came", { cause });
    this.name = "NoAnswerError";
    this.idempotencyKey = idempotencyKey;
  }
}
