import type { Response } from "express";
import { Refusal, refuse } from "@payment-links/contracts";
import { discardBody, leavesLargeBody } from "./unread-body.ts";

/** Answers a refusal with the error envelope (rule ERROR-1), whatever of the request is not yet read. */
export const answerRefusal = (refusal: Refusal, res: Response): void => {
  const text = JSON.stringify({ errors: refusal.entries });
  res.status(refusal.status);
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  if (!leavesLargeBody(res.req)) {
    res.end(text);
    return;
  }
  // Closed at once, the connection would be reset under a client that still sends, and with it go the
  // answer. So the answer goes out whole, and the end follows when the client had time to read it.
  res.setHeader("Connection", "close");
  res.write(text);
  void discardBody(res.req).then(() => res.end());
};

/**
 * The refusal that whatever was thrown means to the caller: a refusal itself, or an error of Express
 * or of the body reader. Undefined where the fault is ours, of which the caller is told no detail.
 */
export const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof Refusal) return error;
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return refuse("PAYLOAD_TOO_LARGE");
  if (status === 415) return refuse("UNSUPPORTED_CONTENT_ENCODING");
  // A path that does not decode names nothing.
  return status === 400 && error instanceof URIError ? refuse("NOT_FOUND") : undefined;
};
