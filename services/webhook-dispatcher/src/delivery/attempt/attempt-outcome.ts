import { BlockedAddressError, UnresolvedHostError } from "../../guard/resolve-public.ts";
import { interruptedError } from "../../domain/delivery.ts";

/**
 * How an attempt can end. There are only a few kinds, because they are values of a metric label.
 */
export type OutcomeKind =
  | "delivered"
  | "status"
  | "timeout"
  | "dns"
  | "blocked"
  | "refused"
  | "unreachable"
  | "closed"
  | "tls"
  | "invalid_answer"
  | "interrupted"
  | "internal";

/**
 * How an attempt ended. `error` is the text that the owner sees in the log, without internal
 * details.
 */
export type AttemptOutcome = {
  kind: OutcomeKind;
  httpStatus: number | null;
  error: string | null;
};

/** The attempt exceeded its deadline. */
export class DeadlineError extends Error {
  constructor() {
    super("deadline exceeded");
    this.name = "DeadlineError";
  }
}

/**
 * Returns the outcome for a status: delivered for any 2xx, failed for all others, including
 * redirects (rule HOOK-13).
 */
export const outcomeFromStatus = (httpStatus: number): AttemptOutcome =>
  httpStatus >= 200 && httpStatus < 300
    ? { kind: "delivered", httpStatus, error: null }
    : { kind: "status", httpStatus, error: `status ${httpStatus}` };

/**
 * The outcome of an attempt that was not started because its lease was about to expire, or whose
 * process died before it reported the result.
 */
export const interruptedOutcome: AttemptOutcome = {
  kind: "interrupted",
  httpStatus: null,
  error: interruptedError,
};

/**
 * Returns the outcome for an error that occurred before the status line. The texts are fixed
 * because a library's message can contain an address.
 */
export const outcomeFromError = (error: unknown): AttemptOutcome => {
  const [kind, text] = classify(error);
  return { kind, httpStatus: null, error: text };
};

type ErrorClass = readonly [OutcomeKind, string];

const timeout: ErrorClass = ["timeout", "time-out"];
const unreachable: ErrorClass = ["unreachable", "host unreachable"];
const closed: ErrorClass = ["closed", "connection closed before an answer"];
const untrusted: ErrorClass = ["tls", "TLS: certificate not trusted"];

const classesByCode: Readonly<Record<string, ErrorClass>> = {
  ETIMEDOUT: timeout,
  UND_ERR_CONNECT_TIMEOUT: timeout,
  ECONNREFUSED: ["refused", "connection refused"],
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: ["invalid_answer", "answer is too long"],
  CERT_HAS_EXPIRED: ["tls", "TLS: certificate expired"],
  CERT_NOT_YET_VALID: ["tls", "TLS: certificate not yet valid"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "TLS: certificate is for another name"],
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

const classesByPrefix: readonly (readonly [string, ErrorClass])[] = [
  ["ERR_SSL_", ["tls", "TLS: handshake failed"]],
  ["ERR_TLS_", ["tls", "TLS: handshake failed"]],
  ["EPROTO", ["tls", "TLS: handshake failed"]],
  ["CERT_", untrusted],
  ["HPE_", ["invalid_answer", "answer is not valid HTTP"]],
  ["UND_ERR_HEADERS_OVERFLOW", ["invalid_answer", "answer's headers are too large"]],
  ["UND_ERR_RES", ["invalid_answer", "answer is not valid HTTP"]],
];

const classify = (error: unknown): ErrorClass => {
  if (error instanceof DeadlineError) return timeout;
  if (error instanceof BlockedAddressError) return ["blocked", "blocked address"];
  if (error instanceof UnresolvedHostError) return ["dns", "DNS: host name does not resolve"];
  const code = getErrorCode(error);
  return (
    classesByCode[code] ??
    classesByPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ?? [
      "internal",
      "internal error",
    ]
  );
};

const getErrorCode = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  // Some errors of undici's HTTP parser have no code.
  return "name" in error && error.name === "HTTPParserError" ? "HPE_" : "";
};
