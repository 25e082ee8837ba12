/**
 * Why a provider returned no usable result:
 * - `range`: the request or its result is larger than the provider or we accept
 * - `behind`: the node has not reached the requested block
 * - `invalid`: the result cannot be right
 * - `refused`: the provider reported any other error
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

/** The error of a JSON-RPC response, with the HTTP status. */
type ReportedError = { code: number; message: string; status: number };

/** Classifies an error that a node reported for a method. */
export type ClassifyError = (method: string, error: ReportedError) => RpcFaultKind;

/**
 * Classifies a response body that is not JSON-RPC. Returns undefined if the body indicates no
 * fault.
 */
export type ClassifyReply = (body: unknown) => RpcFaultKind | undefined;

/**
 * A failed request to one provider. The message never includes text from the provider, because that
 * text can contain the URL with an API key.
 */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  readonly kind: RpcFaultKind;
  /** The pause that the provider asked for (`Retry-After`), in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: RpcFaultKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

const providerFaultKinds: ReadonlySet<RpcFaultKind> = new Set([
  "timeout",
  "unreachable",
  "rate_limited",
]);

/**
 * Returns whether a fault concerns only the requested item. The same provider can still return
 * other items.
 */
export const isItemFault = ({ kind }: RpcFault): boolean => !providerFaultKinds.has(kind);
