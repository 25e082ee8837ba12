import { describe, expect, test } from "@jest/globals";
import { BlockedAddressError, UnresolvedHostError } from "../../guard/resolve-public.ts";
import { DeadlineError, outcomeFromError, outcomeFromStatus } from "./attempt-outcome.ts";

test("outcomeFromStatus treats any 2xx as delivered and everything else as failed", () => {
  const kinds = [199, 200, 299, 300, 302, 404, 500].map((status) => outcomeFromStatus(status).kind);
  expect(kinds).toEqual(["status", "delivered", "delivered", ...Array(4).fill("status")]);
  expect(outcomeFromStatus(404)).toEqual({ kind: "status", httpStatus: 404, error: "status 404" });
  expect(outcomeFromStatus(204)).toEqual({ kind: "delivered", httpStatus: 204, error: null });
});

const internalText = "connect 10.0.0.7:443 at ns1.inside.local";
const createCodedError = (code: string) => Object.assign(new Error(internalText), { code });

describe("outcomeFromError hides the error's own message and", () => {
  test.each([
    ["time-out", "timeout", [new DeadlineError(), "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"]],
    ["blocked address", "blocked", [new BlockedAddressError()]],
    ["DNS: host name does not resolve", "dns", [new UnresolvedHostError()]],
    ["connection refused", "refused", ["ECONNREFUSED"]],
    ["host unreachable", "unreachable", ["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]],
    ["connection closed before an answer", "closed", ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]],
    ["TLS: certificate expired", "tls", ["CERT_HAS_EXPIRED"]],
    ["TLS: certificate not yet valid", "tls", ["CERT_NOT_YET_VALID"]],
    ["TLS: certificate is for another name", "tls", ["ERR_TLS_CERT_ALTNAME_INVALID"]],
    [
      "TLS: certificate not trusted",
      "tls",
      [
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "UNABLE_TO_GET_ISSUER_CERT",
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        "CERT_REVOKED",
      ],
    ],
    [
      "TLS: handshake failed",
      "tls",
      ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_TLS_HANDSHAKE_TIMEOUT", "EPROTO"],
    ],
    [
      "answer is not valid HTTP",
      "invalid_answer",
      [
        "HPE_INVALID_CONSTANT",
        "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
        Object.assign(new Error(internalText), { name: "HTTPParserError" }),
      ],
    ],
    ["answer's headers are too large", "invalid_answer", ["UND_ERR_HEADERS_OVERFLOW"]],
    ["answer is too long", "invalid_answer", ["UND_ERR_RES_EXCEEDED_MAX_SIZE"]],
    [
      "internal error",
      "internal",
      ["EMFILE", new TypeError(internalText), undefined, null, "text"],
    ],
  ])("returns %s", (text, kind, errors) => {
    for (const error of errors) {
      const thrown =
        typeof error === "string" && error !== "text" ? createCodedError(error) : error;
      expect(outcomeFromError(thrown)).toEqual({ kind, httpStatus: null, error: text });
    }
  });
});
