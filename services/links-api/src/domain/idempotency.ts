import { createApiError } from "@payment-links/contracts";

/** How long the first response is stored (rule API-19). */
export const retentionMs = 24 * 60 * 60 * 1000;

const idempotencyKeyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * Parses an `Idempotency-Key` header (rule API-19). Returns undefined if the header is missing.
 * Throws `IDEMPOTENCY_KEY_INVALID` if it is malformed.
 */
export const parseIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined) return undefined;
  if (!idempotencyKeyPattern.test(header)) throw createApiError("IDEMPOTENCY_KEY_INVALID");
  return header;
};
