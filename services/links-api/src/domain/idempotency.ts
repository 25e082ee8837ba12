import { refuse } from "@payment-links/contracts";

/** How long a first answer is kept (rule API-19). */
export const keptMs = 24 * 60 * 60 * 1000;

const shape = /^[\x20-\x7e]{1,255}$/;

/** Reads an Idempotency-Key (rule API-19); undefined if none was sent. */
export const readIdempotencyKey = (header: string | undefined): string | undefined => {
  if (header === undefined) return undefined;
  if (!shape.test(header)) throw refuse("IDEMPOTENCY_KEY_INVALID");
  return header;
};
