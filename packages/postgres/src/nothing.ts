import { sql } from "slonik";
import * as z from "zod";

/** A statement that answers no columns: it is run for what it does, or to see whether there is a row. */
export const nothing = sql.type(z.object({}).strict());
