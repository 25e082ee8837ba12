import { findReceivedUntil } from "@payment-links/bus";
import { topics } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";

/** The name of this service's consumer group. */
const group = "settlement-listener";

/**
 * Returns the time up to which all link events have been received. Undefined if it is unknown, for
 * example while one of the events is dead-lettered.
 */
export const readLinksReceivedUntil = (db: Db): Promise<Date | undefined> =>
  findReceivedUntil(db, { group, topic: topics.paymentLinks });
