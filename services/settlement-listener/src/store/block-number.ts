import * as z from "zod";

/** A block number out of a `bigint` column, which arrives as text; always a safe integer. */
export const BlockNumber = z.string().transform(Number).pipe(z.int());
