import { sql } from "slonik";
import * as z from "zod";

/** The row schema of a statement that returns no columns, for use with `sql.prepared`. */
export const VoidRow = z.object({}).strict();

/**
 * Builds a statement that returns no columns. Use it for a statement's effect, or to check whether
 * a row exists.
 */
export const sqlVoid = sql.type(VoidRow);
