/**
 * Headers of every response. Browsers must not guess the content type, and nothing may cache the
 * response unless its route allows it.
 */
export const defaultHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
} as const;
