import { type Db, sqlVoid } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { type EndpointHour, getRecentHours } from "../domain/endpoint-hour.ts";

const hourRow = sql.type(
  z.object({ endpointId: z.string(), hour: z.date(), delivered: z.int(), failed: z.int() }),
);

/**
 * Lists the stored counts of the endpoints' recent hours. Hours without attempts do not have a row.
 */
export const listRecentHours = (
  pool: Db,
  { endpointIds, now }: { endpointIds: readonly string[]; now: Date },
): Promise<readonly EndpointHour[]> => {
  const hours = getRecentHours(now).map((hour) => hour.toISOString());
  return pool.any(hourRow`
    SELECT endpoint_id AS "endpointId", hour, delivered, failed FROM endpoint_hours
    WHERE hour = ANY (${sql.array(hours, "timestamptz")})
      AND endpoint_id = ANY (${sql.array([...endpointIds], "text")})
  `);
};

/** The maximum number of rows deleted per run. */
const deletedRowsMax = 5_000;

/** Deletes hours that are no longer recent. Returns whether more of them may remain. */
export const deleteOldHours = async (pool: Db, { now }: { now: Date }): Promise<boolean> => {
  const [oldestHour = now] = getRecentHours(now);
  const { rowCount } = await pool.query(sqlVoid`
    DELETE FROM endpoint_hours WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM endpoint_hours WHERE hour < ${sql.timestamp(oldestHour)} LIMIT ${deletedRowsMax}
    ))
  `);
  return rowCount === deletedRowsMax;
};
