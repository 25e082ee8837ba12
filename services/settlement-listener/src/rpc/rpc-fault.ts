/**
 * Why a provider gave no usable answer. `range`: the question covers more than it bears. `behind`:
 * its node has not come as far as was asked. `invalid`: the answer cannot be right. `refused`: any
 * other error that it reported.
 */
export type RpcFaultKind =
  | "timeout"
  | "unreachable"
  | "rate_limited"
  | "range"
  | "behind"
  | "refused"
  | "reverted"
  | "invalid";

/** The error of a JSON-RPC answer, and the HTTP status that it came with. */
type ReportedError = { code: number; message: string; status: number };

/** What kind of fault a node's error is, for the method that was asked. */
export type ClassifyError = (method: string, error: ReportedError) => RpcFaultKind;

/** What fault a node tells by an answer that is no JSON-RPC, if it does. */
export type ClassifyReply = (body: unknown) => RpcFaultKind | undefined;

/**
 * A question to one provider that failed. It repeats none of the provider's own words, as these may
 * contain the address that was asked, and a key in it.
 */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  readonly kind: RpcFaultKind;
  /** How long the provider asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: RpcFaultKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
