import type { EventType } from "@payment-links/contracts";
import type { Envelope } from "./reaction.ts";

/** Clocks of one source's processes differ by less. */
const clockSkewMsMax = 60_000;

/** When a state was told, and before when what is kept must have been told for a snapshot to replace it. */
export type Told = { toldAt: Date; anewFrom: Date | null };

/**
 * When the state that an event carries was told. The source of a snapshot may have been restored, and
 * count its versions anew (rule EVENT-7).
 */
export const toldBy = ({ type, occurredAt }: Envelope, snapshot: EventType): Told => ({
  toldAt: occurredAt,
  anewFrom: type === snapshot.type ? new Date(occurredAt.getTime() - clockSkewMsMax) : null,
});
