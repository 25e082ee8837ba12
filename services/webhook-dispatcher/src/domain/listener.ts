import type { ListenerWebhook } from "@payment-links/contracts";
import type { WebhookEvent } from "./webhook-body.ts";
import { createWebhookHeaders } from "./signature.ts";

/** The maximum number of listeners per account and mode (rule HOOK-22). */
export const listenersMax = 3;

/** How long a listener exists after its last connection. */
const listenerMsMax = 5 * 60_000;

/** The maximum number of events that a listener stores. The oldest are deleted first. */
export const listenerEventsMax = 1_000;

/** An event that a listener has not acknowledged. */
export type ListenerEvent = WebhookEvent & {
  /** The position of the event among those of its listener, starting at 1. */
  number: number;
  linkId: string;
};

/** Returns the earliest last connection of a listener that still exists. */
export const getListenersSince = (now: Date): Date => new Date(now.getTime() - listenerMsMax);

/** Serializes an event of a stream. The id is what a client sends as `Last-Event-ID`. */
export const formatStreamEvent = (id: number, name: "webhook" | "dropped", data: object): string =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

type SigningOptions = { prefix: string; secret: string; now: Date };

/** Creates the request that an endpoint would get, signed with the listener's secret. */
export const createListenerWebhook = (
  eventId: string,
  body: string,
  options: SigningOptions,
): ListenerWebhook => ({ headers: createWebhookHeaders({ ...options, eventId, body }), body });
