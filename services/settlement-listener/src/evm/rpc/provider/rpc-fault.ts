/**
 * Why a provider gave no usable answer: `range` is more than it bears in one question, `behind` a
 * node that has not come as far as was asked, `invalid` an answer that cannot be right, `refused`
 * any other error that it told.
 */
export type FaultKind =
  | "timeout"
  | "unreachable"
  | "rate_limited"
  | "range"
  | "behind"
  | "refused"
  | "reverted"
  | "invalid";

/**
 * A question to one provider that failed. It repeats nothing of the provider's own words, as these
 * may hold the address that was asked, and with it a key.
 */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  readonly kind: FaultKind;
  /** How long the provider asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FaultKind, what: string, retryAfterMs?: number) {
    super(what);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
