import { createApiError } from "@payment-links/contracts";

/** How long a first answer is kept (rule API-19). */
export const retentionMs = 24 * 60 * 60 * 1000;

const idempotencyKeyPattern = /^[\x20-\x7e]{1,255}$/;

/** Reads an Idempotency-Key (rule API-19); undefined if none was sent. */
export const parseIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined) return undefined;
  if (!idempotencyKeyPattern.test(header)) throw createApiError("IDEMPOTENCY_KEY_INVALID");
  return header;
};
