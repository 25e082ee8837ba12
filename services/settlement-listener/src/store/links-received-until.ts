import { findReceivedUntil } from "@payment-links/bus";
import { topics } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";

/** The group under which this service hears, as its wiring names it. */
const group = "settlement-listener";

/**
 * The moment before which every record of a link has been heard; undefined if that is not known, as
 * while one of them is parked.
 */
export const readLinksReceivedUntil = (db: Db): Promise<Date | undefined> =>
  findReceivedUntil(db, { group, topic: topics.paymentLinks });
