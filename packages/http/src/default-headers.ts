/**
 * Headers of every response: browsers never sniff its type, and nothing caches it unless its route
 * says so.
 */
export const defaultHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
} as const;
