import type { WebhookTransaction, WebhookType } from "@payment-links/contracts";
import type { Link } from "./link.ts";
import type { Destination } from "./schedule/slots.ts";

/** An event and the endpoint that gets it. */
export type Delivery = {
  id: string;
  eventId: string;
  endpointId: string;
  linkId: string;
  eventType: WebhookType;
  occurredAt: Date;
  transaction: WebhookTransaction | null;
  traceparent: string | null;
  /** The number of the current attempt. */
  attempts: number;
};

/** The URL of an endpoint (null if the rules forbid it) and the secret that signs its webhooks. */
export type Target = { url: URL | null; secret: string };

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
};
