type ApiErrorEntry = { message: string; code: string; methods?: readonly string[] };

/** An error from a call: the service's error response, or status 0 if no response arrived. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly entries: readonly ApiErrorEntry[];
  readonly codes: readonly string[];
  /**
   * The methods that the user can prove presence with, if the call failed because a proof was
   * missing.
   */
  readonly methods: readonly string[];
  /** How long to wait before the next call, if the service specifies it. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, entries: readonly ApiErrorEntry[], retryAfterSeconds?: number) {
    super(entries.map((entry) => entry.message).join(" "));
    this.status = status;
    this.entries = entries;
    this.codes = entries.map((entry) => entry.code);
    this.methods = entries.flatMap((entry) => entry.methods ?? []);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns whether a call failed with this error code. */
export const hasApiErrorCode = (error: unknown, code: string): error is ApiError =>
  error instanceof ApiError && error.codes.includes(code);
