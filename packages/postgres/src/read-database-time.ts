import { sql } from "slonik";
import * as z from "zod";
import type { Pool } from "./pool.ts";

const Row = z.object({ at: z.date() });

/** Returns the current time of Postgres' own clock. */
export const readDatabaseTime = async (pool: Pool): Promise<Date> => {
  const { at } = await pool.one(sql.type(Row)`SELECT clock_timestamp() AS at`);
  return at;
};
