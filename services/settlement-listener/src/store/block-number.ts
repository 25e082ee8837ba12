import * as z from "zod";

/** Parses a block number from a `bigint` column, which arrives as text. Always a safe integer. */
export const BlockNumber = z.string().transform(Number).pipe(z.int());
