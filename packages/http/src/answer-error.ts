import type { Response } from "express";
import { Refusal, type RefusalCode, refuse } from "@payment-links/contracts";

/** Answers a refusal with the error envelope (spec §7). */
export const answerRefusal = (refusal: Refusal, res: Response): void => {
  res.status(refusal.status).json({ errors: refusal.entries });
};

/**
 * Turns whatever was thrown into what the caller is told. Errors of Express and of the body reader
 * are the caller's fault; all else is ours, and is told without detail.
 */
export const refusalOf = (error: unknown, failure: RefusalCode): Refusal => {
  if (error instanceof Refusal) return error;
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return refuse("PAYLOAD_TOO_LARGE");
  if (status === 415) return refuse("UNSUPPORTED_CONTENT_ENCODING");
  // A path that does not decode names nothing.
  if (status === 400 && error instanceof URIError) return refuse("NOT_FOUND");
  return refuse(failure);
};
