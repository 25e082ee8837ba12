import { sql } from "slonik";
import type { EventType } from "@payment-links/contracts";
import type { Envelope } from "./event-handlers.ts";

/** Clocks of one source's processes differ by less. */
const clockSkewMsMax = 60_000;

/**
 * When a state was told. Of a snapshot also since when what is kept must have been told to stand
 * against it.
 */
export type LatestPublished = { publishedAt: Date; versionsRestartedAt: Date | null };

/**
 * When the state that an event carries was told. The source of a snapshot may have been restored, and
 * count its versions anew (rule EVENT-7).
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
 * The `WHERE` of an upsert whose rows `kept` have `version`, `told_at` and `anew_from`: what is given
 * replaces what is kept if its version is higher and it was not told in a time that is lost, or if it is
 * a snapshot that was told long after, whatever its version. A row without `told_at` was told long ago.
 */
export const isNewerThanStored = sql.fragment`(
  kept.version < excluded.version
    AND coalesce(kept.anew_from, '-infinity') <= excluded.told_at
  OR coalesce(kept.told_at, '-infinity') < excluded.anew_from
)`;

/**
 * The `SET` that goes with {@link isNewerThanStored}. Only a snapshot that takes the version back says that
 * a time is lost: by any other one the source's clock, if it was ahead for once, would keep later
 * changes away.
 */
export const setLatestPublished = sql.fragment`
  told_at = greatest(kept.told_at, excluded.told_at),
  anew_from = CASE
    WHEN excluded.version < kept.version THEN excluded.anew_from ELSE kept.anew_from
  END
`;
