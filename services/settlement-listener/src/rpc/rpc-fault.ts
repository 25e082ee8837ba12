/**
 * Why a provider gave no usable result:
 * - `range`: the request covers more than the provider accepts
 * - `behind`: the node has not reached the requested block
 * - `invalid`: the result cannot be right
 * - `refused`: any other error that the provider reported
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

/** The error of a JSON-RPC response, and its HTTP status. */
type ReportedError = { code: number; message: string; status: number };

/** Classifies a node's error, depending on the requested method. */
export type ClassifyError = (method: string, error: ReportedError) => RpcFaultKind;

/** Classifies a response body that is not JSON-RPC. Returns undefined if it indicates no fault. */
export type ClassifyReply = (body: unknown) => RpcFaultKind | undefined;

/**
 * A failed request to one provider. Contains none of the provider's text, which may include the URL
 * with an API key.
 */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  readonly kind: RpcFaultKind;
  /** The pause that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: RpcFaultKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
