import { sql } from "slonik";
import * as z from "zod";

/** The row of a statement that answers no columns, for one that is prepared under a name. */
export const VoidRow = z.object({}).strict();

/** A statement that answers no columns: it is run for what it does, or to see whether there is a row. */
export const sqlVoid = sql.type(VoidRow);
