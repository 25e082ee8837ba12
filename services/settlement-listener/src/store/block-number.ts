import * as z from "zod";

/**
 * Parses a block number from a `bigint` column, which Postgres returns as text. The result is a
 * safe integer.
 */
export const BlockNumber = z.string().transform(Number).pipe(z.int());
