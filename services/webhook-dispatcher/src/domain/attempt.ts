import { WebhookTransaction, type WebhookType } from "@payment-links/contracts";
import * as z from "zod";
import type { Link } from "./link.ts";
import type { Destination } from "./schedule/slots.ts";

/** An event's payment as stored. `reason` says why it was not applied (rule HOOK-21). */
export const StoredTransaction = WebhookTransaction.extend({ reason: z.string().optional() });
export type StoredTransaction = z.output<typeof StoredTransaction>;

/** An event and the endpoint that gets it. */
export type Delivery = {
  id: string;
  eventId: string;
  endpointId: string;
  linkId: string;
  eventType: WebhookType;
  occurredAt: Date;
  transaction: StoredTransaction | null;
  traceparent: string | null;
  /** The number of the current attempt. */
  attempts: number;
};

/** The URL of an endpoint (null if the rules forbid it) and the secret that signs its webhooks. */
export type Target = { url: URL | null; secret: string };

/** A transaction that leases deliveries. After it has ended, both members say whether it committed. */
export type Leasing = { isCommitted: boolean | undefined; ended: Promise<boolean> };

/**
 * A delivery that is leased for one attempt, with everything that the attempt needs. The attempt
 * itself does not read the database. `link` or `target` is undefined if it is missing.
 */
export type Attempt = {
  delivery: Delivery;
  destination: Destination;
  link: Link | undefined;
  target: Target | undefined;
  leaseUntil: Date;
  /**
   * The transaction that leases the delivery. The first attempt can start before it commits,
   * because its webhook is the same if the delivery is created again.
   */
  leasing: Leasing;
};
