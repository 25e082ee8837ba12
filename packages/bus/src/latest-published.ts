import { sql } from "slonik";
import type { EventType } from "@payment-links/contracts";
import type { Envelope } from "./event-handlers.ts";

/** The maximum clock difference between the processes of one source. */
const clockSkewMsMax = 60_000;

/**
 * When a state was published. For a snapshot, `versionsRestartedAt` is also set: the snapshot
 * replaces any stored state that was published before that time.
 */
export type LatestPublished = { publishedAt: Date; versionsRestartedAt: Date | null };

/**
 * Returns when an event's state was published. The source of a snapshot may have been restored and
 * then continue with lower version numbers (rule EVENT-7).
 */
export const toLatestPublished = (
  { type, occurredAt }: Envelope,
  snapshotEvent: EventType,
): LatestPublished => ({
  publishedAt: occurredAt,
  versionsRestartedAt:
    type === snapshotEvent.type ? new Date(occurredAt.getTime() - clockSkewMsMax) : null,
});

/**
 * The `WHERE` condition of an upsert into a table aliased `kept`, with columns `version`, `told_at`
 * and `anew_from`. The new row replaces the stored one in two cases:
 * - its version is higher, and it was not published before the stored `anew_from`;
 * - it is a snapshot published more than `clockSkewMsMax` after the stored row, whatever its
 *   version.
 *
 * A row without `told_at` is treated as published long ago.
 */
export const isNewerThanStored = sql.fragment`(
  kept.version < excluded.version
    AND coalesce(kept.anew_from, '-infinity') <= excluded.told_at
  OR coalesce(kept.told_at, '-infinity') < excluded.anew_from
)`;

/**
 * The `SET` clause that belongs to {@link isNewerThanStored}. Only a snapshot with a lower version
 * records a version restart. If every snapshot did so, a single snapshot from a clock that runs
 * ahead would block later changes.
 */
export const setLatestPublished = sql.fragment`
  told_at = greatest(kept.told_at, excluded.told_at),
  anew_from = CASE
    WHEN excluded.version < kept.version THEN excluded.anew_from ELSE kept.anew_from
  END
`;
