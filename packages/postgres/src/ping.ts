import { sql } from "slonik";
import * as z from "zod";
import type { Pool } from "./pool.ts";

const Row = z.object({ isThere: z.literal(true) });

/** Checks that the service's tables are accessible. Throws if the database is unreachable. */
export const ping = (pool: Pool): Promise<boolean> =>
  pool.exists(sql.type(Row)`SELECT true AS "isThere" FROM migrations`);
