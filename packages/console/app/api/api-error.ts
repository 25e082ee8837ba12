type ApiErrorEntry = { message: string; code: string; methods?: readonly string[] };

/** What went wrong with a call: refused by the service, or no answer at all (status 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly entries: readonly ApiErrorEntry[];
  readonly codes: readonly string[];
  /** How presence can be proven, where that is what is missing. */
  readonly methods: readonly string[];
  /** How long to wait before the next call, where the service says so. */
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

/** Whether a call was refused with this code. */
export const hasApiErrorCode = (error: unknown, code: string): error is ApiError =>
  error instanceof ApiError && error.codes.includes(code);
