import { sql } from "slonik";
import * as z from "zod";
import type { Pool } from "./pool.ts";

const Row = z.object({ isThere: z.literal(true) });

/** Whether the service's tables can be reached; throws if the database cannot. */
export const ping = (pool: Pool): Promise<boolean> =>
  pool.exists(sql.type(Row)`SELECT true AS "isThere" FROM migrations`);
