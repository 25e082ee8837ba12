import type { Response } from "express";
import { ApiError, createApiError } from "@payment-links/contracts";
import { discardBody, hasLargeUnreadBody } from "./unread-body.ts";

/**
 * Sends an API error in the error envelope (rule ERROR-1), even if the request body is still
 * unread. `extraFields` are added to the envelope, for specifications that require other fields.
 */
export const sendApiError = (apiError: ApiError, res: Response, extraFields: object = {}): void => {
  const text = JSON.stringify({ ...extraFields, errors: apiError.entries });
  res.status(apiError.status);
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  if (publicApiPath.test(res.req.path)) res.setHeader("Link", buildHelpLink(apiError));
  if (!hasLargeUnreadBody(res.req)) {
    res.end(text);
    return;
  }
  // Closing the connection while the client still sends would reset it, and the client would lose
  // the response. Therefore, the whole response is written first, and the connection ends after the
  // client had time to read it.
  res.setHeader("Connection", "close");
  res.write(text);
  void discardBody(res.req).then(() => res.end());
};

const publicApiPath = /^\/v1(?:\/|$)/;

/** Links to the entry of the error's code in the docs (rule ERROR-7). */
const buildHelpLink = ({ entries }: ApiError): string =>
  `</docs/errors#${entries[0]?.code ?? ""}>; rel="help"`;

/**
 * Converts a thrown value to an API error. The value can be an API error already, or an error from
 * Express or the body parser. Returns undefined for all other values. These are internal errors,
 * whose details callers must not see.
 */
export const toApiError = (error: unknown): ApiError | undefined => {
  if (error instanceof ApiError) return error;
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return createApiError("PAYLOAD_TOO_LARGE");
  if (status === 415) return createApiError("UNSUPPORTED_CONTENT_ENCODING");
  // If a path cannot be decoded, no route matches it.
  return status === 400 && error instanceof URIError ? createApiError("NOT_FOUND") : undefined;
};
