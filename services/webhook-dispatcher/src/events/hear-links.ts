import { type AfterCommit, type Envelope, toldBy } from "@payment-links/bus";
import {
  LinkTransaction,
  type PaymentLinkState,
  type WebhookType,
  idOfNames,
  linkSnapshot,
  webhookTypes,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import * as z from "zod";
import type { Place } from "../domain/schedule/slots.ts";
import type { EventDeps } from "../deps.ts";
import { type OwedDelivery, openDeliveries } from "../delivery/open-deliveries.ts";
import { listEnabledEndpoints } from "../store/endpoints.ts";
import { type HeardLink, type ToldLink, recordLinks } from "../store/links.ts";

type LinkEvent = {
  data: { link: PaymentLinkState; transaction?: LinkTransaction };
  envelope: Envelope;
  traceparent: string | undefined;
};

/**
 * Keeps each link's newest state, and opens one delivery per webhook event and endpoint that its owner
 * has enabled now, in one transaction, so that no webhook is older than its event. Every record carries
 * the link's whole state: a jump in versions is counted, and made up for by the record itself. What was
 * heard before opens nothing, not even for an endpoint that came since.
 */
export const hearLinks =
  (deps: EventDeps) =>
  async (tx: Transaction, events: readonly LinkEvent[]): Promise<AfterCommit | void> => {
    const links = events.map(({ data }) => data.link);
    const newest = newestOf(events);
    const heardBefore = await recordLinks(tx, newest);
    for (let jumps = countJumps(links, heardBefore); jumps > 0; jumps -= 1) {
      // A transaction that is run again counts again: the number shows that there are jumps, not
      // how many.
      deps.countVersionJump();
    }
    const fresh = events.flatMap((event) => {
      const eventType = webhookTypes.find((type) => type === event.envelope.type);
      const isNone = eventType === undefined || isRepeat(event, heardBefore);
      return isNone ? [] : [{ ...event, eventType }];
    });
    // A repeat beside its first telling is in nothing that was heard before.
    const owed = [...new Map(fresh.map((event) => [event.envelope.id, event])).values()];
    if (owed.length === 0) return;
    const userIds = [...new Set(owed.map(({ data }) => data.link.userId))];
    const enabled = await listEnabledEndpoints(tx, userIds);
    const places = enabled.map(({ id, ...rest }) => ({ endpointId: id, ...rest }));
    const placesOf = Map.groupBy(places, ({ userId }) => userId);
    const deliveries = owed.flatMap((event) =>
      (placesOf.get(event.data.link.userId) ?? [])
        .filter(({ dateCreated }) => isOwedSince(dateCreated, event, heardBefore))
        .map((place) => owedDelivery(deps, event, place)),
    );
    // A link that is already known in a newer state is left out: its deliveries read it when they
    // are claimed.
    const current = newest.flatMap(({ link }) => (isNewer(link, heardBefore) ? [link] : []));
    return openDeliveries(tx, deps, { deliveries, places, links: current });
  };

/**
 * Whether an event is not newer than what is known of its link, by version nor by time. A source that
 * was restored counts its versions anew, but not its time.
 */
const isRepeat = (
  { data: { link }, envelope }: LinkEvent,
  heardBefore: ReadonlyMap<string, HeardLink>,
): boolean => {
  const heard = heardBefore.get(link.id);
  return (
    heard !== undefined &&
    link.version <= heard.version &&
    heard.toldAt !== null &&
    envelope.occurredAt <= heard.toldAt
  );
};

const isNewer = (
  { id, version }: PaymentLinkState,
  heardBefore: ReadonlyMap<string, HeardLink>,
): boolean => version > (heardBefore.get(id)?.version ?? 0);

/**
 * Whether an event is owed to an endpoint that was registered then. One of a source that was restored
 * leaves no trace in what is known of its link while its version is lower: it may have been heard before
 * the endpoint was there.
 */
const isOwedSince = (
  dateCreated: Date,
  { data: { link }, envelope }: LinkEvent,
  heardBefore: ReadonlyMap<string, HeardLink>,
): boolean => isNewer(link, heardBefore) || dateCreated <= envelope.occurredAt;

/** One state per link: one statement must not write the same row twice. */
const newestOf = (events: readonly LinkEvent[]): ToldLink[] => {
  const newest = new Map<string, ToldLink>();
  for (const { data, envelope } of events) {
    const { link } = data;
    const before = newest.get(link.id);
    const { toldAt, anewFrom } = toldBy(envelope, linkSnapshot);
    if (before === undefined) {
      newest.set(link.id, { link, toldAt, anewFrom });
      continue;
    }
    const isAnew = anewFrom !== null && before.toldAt < anewFrom;
    if (link.version <= before.link.version && !isAnew) continue;
    newest.set(link.id, {
      link,
      toldAt: toldAt > before.toldAt ? toldAt : before.toldAt,
      anewFrom: anewFrom ?? before.anewFrom,
    });
  }
  return [...newest.values()];
};

const countJumps = (
  links: readonly PaymentLinkState[],
  heardBefore: ReadonlyMap<string, HeardLink>,
): number => {
  const known = new Map([...heardBefore].map(([id, { version }]) => [id, version]));
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
  id: idOfNames("evt", [envelope.id, place.endpointId]),
  endpointId: place.endpointId,
  eventId: envelope.id,
  // Not since its payment was seen: restored services may see that again later.
  possibleSince: data.link.dateCreated,
  linkId: data.link.id,
  eventType,
  occurredAt: envelope.occurredAt,
  transaction: data.transaction === undefined ? null : z.encode(LinkTransaction, data.transaction),
  traceparent: traceparent ?? null,
  dateCreated: clock.now(),
});
