import type { AfterCommit, Envelope } from "@payment-links/bus";
import {
  LinkTransaction,
  type PaymentLinkState,
  type WebhookType,
  newId,
  webhookTypes,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import * as z from "zod";
import type { Place } from "../domain/schedule/slots.ts";
import type { EventDeps } from "../deps.ts";
import { type OwedDelivery, openDeliveries } from "../delivery/open-deliveries.ts";
import { listEnabledEndpoints, shareEndpoints } from "../store/endpoints.ts";
import { recordLinks } from "../store/links.ts";

type LinkEvent = {
  data: { link: PaymentLinkState; transaction?: LinkTransaction };
  envelope: Envelope;
  traceparent: string | undefined;
};

/**
 * Keeps each link's newest state, and opens one delivery per webhook event and endpoint that its owner
 * has enabled now, in one transaction, so that no webhook is older than its event. Every record carries
 * the link's whole state: a jump in versions is counted, and made up for by the record itself.
 */
export const hearLinks =
  (deps: EventDeps) =>
  async (tx: Transaction, events: readonly LinkEvent[]): Promise<AfterCommit | void> => {
    const links = events.map(({ data }) => data.link);
    const newest = newestOf(links);
    const versionsBefore = await recordLinks(tx, newest);
    for (let jumps = countJumps(links, versionsBefore); jumps > 0; jumps -= 1) {
      // A transaction that is run again counts again: the number shows that there are jumps, not
      // how many.
      deps.countVersionJump();
    }
    const owed = events.flatMap((event) => {
      const eventType = webhookTypes.find((type) => type === event.envelope.type);
      return eventType === undefined ? [] : [{ ...event, eventType }];
    });
    if (owed.length === 0) return;
    const userIds = [...new Set(owed.map(({ data }) => data.link.userId))];
    await shareEndpoints(tx, userIds);
    const places = (await listEnabledEndpoints(tx, userIds)).map(({ id, userId, origin }) => ({
      endpointId: id,
      userId,
      origin,
    }));
    const placesOf = Map.groupBy(places, ({ userId }) => userId);
    const deliveries = owed.flatMap((event) =>
      (placesOf.get(event.data.link.userId) ?? []).map((place) => owedDelivery(deps, event, place)),
    );
    // A link that is already known in a newer state is left out: its deliveries read it when they
    // are claimed.
    const current = newest.filter(({ id, version }) => version > (versionsBefore.get(id) ?? 0));
    return openDeliveries(tx, deps, { deliveries, places, links: current });
  };

/** One state per link: one statement must not write the same row twice. */
const newestOf = (links: readonly PaymentLinkState[]): PaymentLinkState[] => {
  const newest = new Map<string, PaymentLinkState>();
  for (const link of links) {
    if (link.version > (newest.get(link.id)?.version ?? 0)) newest.set(link.id, link);
  }
  return [...newest.values()];
};

const countJumps = (
  links: readonly PaymentLinkState[],
  versionsBefore: ReadonlyMap<string, number>,
): number => {
  const known = new Map(versionsBefore);
  let jumps = 0;
  for (const { id, version } of links) {
    const before = known.get(id);
    if (before !== undefined && version > before + 1) jumps += 1;
    known.set(id, Math.max(before ?? 0, version));
  }
  return jumps;
};

const owedDelivery = (
  { clock }: EventDeps,
  { data, envelope, eventType, traceparent }: LinkEvent & { eventType: WebhookType },
  place: Place,
): OwedDelivery => ({
  id: newId("evt"),
  endpointId: place.endpointId,
  eventId: envelope.id,
  linkId: data.link.id,
  eventType,
  occurredAt: envelope.occurredAt,
  transaction: data.transaction === undefined ? null : z.encode(LinkTransaction, data.transaction),
  traceparent: traceparent ?? null,
  dateCreated: clock.now(),
});
