import { type AfterCommitHook, type Envelope, toLatestPublished } from "@payment-links/bus";
import {
  LinkTransaction,
  type PaymentLinkState,
  type WebhookType,
  createDeterministicId,
  linkSnapshot,
  webhookTypes,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import * as z from "zod";
import type { Destination } from "../domain/schedule/slots.ts";
import type { EventDependencies } from "../dependencies.ts";
import { type UnscheduledDelivery, createDeliveries } from "../delivery/create-deliveries.ts";
import { listEnabledEndpoints } from "../store/endpoints.ts";
import { type StoredLinkVersion, type PublishedLink, recordLinks } from "../store/links.ts";

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
export const receiveLinks =
  (dependencies: EventDependencies) =>
  async (tx: Transaction, events: readonly LinkEvent[]): Promise<AfterCommitHook | void> => {
    const links = events.map(({ data }) => data.link);
    const newestLinks = pickNewestStates(events);
    const storedLinks = await recordLinks(tx, newestLinks);
    for (let jumps = countVersionJumps(links, storedLinks); jumps > 0; jumps -= 1) {
      // A transaction that is run again counts again: the number shows that there are jumps, not
      // how many.
      dependencies.countVersionJump();
    }
    const newEvents = events.flatMap((event) => {
      const eventType = webhookTypes.find((type) => type === event.envelope.type);
      const isSkipped = eventType === undefined || isDuplicate(event, storedLinks);
      return isSkipped ? [] : [{ ...event, eventType }];
    });
    // A repeat beside its first telling is in nothing that was heard before.
    const pendingEvents = [
      ...new Map(newEvents.map((event) => [event.envelope.id, event])).values(),
    ];
    if (pendingEvents.length === 0) return;
    const userIds = [...new Set(pendingEvents.map(({ data }) => data.link.userId))];
    const enabledEndpoints = await listEnabledEndpoints(tx, userIds);
    const destinations = enabledEndpoints.map(({ id, ...destinationFields }) => ({
      endpointId: id,
      ...destinationFields,
    }));
    const destinationsByUser = Map.groupBy(destinations, ({ userId }) => userId);
    const deliveries = pendingEvents.flatMap((event) =>
      (destinationsByUser.get(event.data.link.userId) ?? [])
        .filter(({ dateCreated }) => isDueToEndpoint(dateCreated, event, storedLinks))
        .map((destination) => toUnscheduledDelivery(dependencies, event, destination)),
    );
    // A link that is already known in a newer state is left out: its deliveries read it when they
    // are claimed.
    const currentLinks = newestLinks.flatMap(({ link }) =>
      isNewer(link, storedLinks) ? [link] : [],
    );
    return createDeliveries(tx, dependencies, { deliveries, destinations, links: currentLinks });
  };

/**
 * Whether an event is not newer than what is known of its link, by version nor by time. A source that
 * was restored counts its versions anew, but not its time.
 */
const isDuplicate = (
  { data: { link }, envelope }: LinkEvent,
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): boolean => {
  const storedLink = storedLinks.get(link.id);
  return (
    storedLink !== undefined &&
    link.version <= storedLink.version &&
    storedLink.toldAt !== null &&
    envelope.occurredAt <= storedLink.toldAt
  );
};

const isNewer = (
  { id, version }: PaymentLinkState,
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): boolean => version > (storedLinks.get(id)?.version ?? 0);

/**
 * Whether an event is owed to an endpoint that was registered then. One of a source that was restored
 * leaves no trace in what is known of its link while its version is lower: it may have been heard before
 * the endpoint was there.
 */
const isDueToEndpoint = (
  dateCreated: Date,
  { data: { link }, envelope }: LinkEvent,
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): boolean => isNewer(link, storedLinks) || dateCreated <= envelope.occurredAt;

/** One state per link: one statement must not write the same row twice. */
const pickNewestStates = (events: readonly LinkEvent[]): PublishedLink[] => {
  const newestByLink = new Map<string, PublishedLink>();
  for (const { data, envelope } of events) {
    const { link } = data;
    const previous = newestByLink.get(link.id);
    const { publishedAt, versionsRestartedAt } = toLatestPublished(envelope, linkSnapshot);
    if (previous === undefined) {
      newestByLink.set(link.id, { link, publishedAt, versionsRestartedAt });
      continue;
    }
    const isRepublished =
      versionsRestartedAt !== null && previous.publishedAt < versionsRestartedAt;
    if (link.version <= previous.link.version && !isRepublished) continue;
    newestByLink.set(link.id, {
      link,
      publishedAt: publishedAt > previous.publishedAt ? publishedAt : previous.publishedAt,
      versionsRestartedAt: versionsRestartedAt ?? previous.versionsRestartedAt,
    });
  }
  return [...newestByLink.values()];
};

const countVersionJumps = (
  links: readonly PaymentLinkState[],
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): number => {
  const versionByLink = new Map([...storedLinks].map(([id, { version }]) => [id, version]));
  let jumps = 0;
  for (const { id, version } of links) {
    const previousVersion = versionByLink.get(id);
    if (previousVersion !== undefined && version > previousVersion + 1) jumps += 1;
    versionByLink.set(id, Math.max(previousVersion ?? 0, version));
  }
  return jumps;
};

const toUnscheduledDelivery = (
  { clock }: EventDependencies,
  { data, envelope, eventType, traceparent }: LinkEvent & { eventType: WebhookType },
  destination: Destination,
): UnscheduledDelivery => ({
  id: createDeterministicId("evt", [envelope.id, destination.endpointId]),
  endpointId: destination.endpointId,
  eventId: envelope.id,
  // Not since its payment was seen: restored services may see that again later.
  earliestPublishedAt: data.link.dateCreated,
  linkId: data.link.id,
  eventType,
  occurredAt: envelope.occurredAt,
  transaction: data.transaction === undefined ? null : z.encode(LinkTransaction, data.transaction),
  traceparent: traceparent ?? null,
  dateCreated: clock.now(),
});
