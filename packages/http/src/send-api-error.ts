import type { Response } from "express";
import { ApiError, createApiError } from "@payment-links/contracts";
import { discardBody, hasLargeUnreadBody } from "./unread-body.ts";

/**
 * Answers a refusal with the error envelope (rule ERROR-1), even if the request is not read yet.
 * `beside` is what others' specifications want there.
 */
export const sendApiError = (apiError: ApiError, res: Response, extraFields: object = {}): void => {
  const text = JSON.stringify({ ...extraFields, errors: apiError.entries });
  res.status(apiError.status);
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  if (!hasLargeUnreadBody(res.req)) {
    res.end(text);
    return;
  }
  // If the connection closed at once, it would be reset while the client still sends, and the
  // answer would be lost. So the whole answer goes out, and the connection ends when the client had
  // time to read it.
  res.setHeader("Connection", "close");
  res.write(text);
  void discardBody(res.req).then(() => res.end());
};

/**
 * What a thrown value means to the caller: it is a refusal itself, or an error of Express or of the
 * body reader. Undefined if the fault is ours; the caller gets no detail of that.
 */
export const toApiError = (error: unknown): ApiError | undefined => {
  if (error instanceof ApiError) return error;
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return createApiError("PAYLOAD_TOO_LARGE");
  if (status === 415) return createApiError("UNSUPPORTED_CONTENT_ENCODING");
  // A path that does not decode names nothing.
  return status === 400 && error instanceof URIError ? createApiError("NOT_FOUND") : undefined;
};
