/** What holds for every answer: nobody guesses its type, and nobody keeps it unless its route says so. */
export const defaultHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
} as const;
