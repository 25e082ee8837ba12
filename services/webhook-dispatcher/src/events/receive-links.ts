import { type Envelope, toLatestPublished } from "@payment-links/bus";
import {
  LinkTransaction,
  type PaymentLinkState,
  UnappliedTransaction,
  type WebhookType,
  createDeterministicId,
  linkSnapshot,
  webhookTypes,
} from "@payment-links/contracts";
import { type Transaction, afterCommit, onTransactionEnd } from "@payment-links/postgres";
import * as z from "zod";
import { afterMs } from "@payment-links/runtime";
import { prepareAttempts } from "../delivery/prepare-attempts.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Leasing } from "../domain/attempt.ts";
import type { Link } from "../domain/link.ts";
import type { Destination } from "../domain/schedule/slots.ts";
import { type NewDelivery, insertDeliveries } from "../store/deliveries.ts";
import { listEnabledEndpoints } from "../store/endpoints.ts";
import { type StoredLinkVersion, type PublishedLink, recordLinks } from "../store/links.ts";
import { type AccountEvent, type Receiver, storeListenerEvents } from "./store-listener-events.ts";

type LinkEvent = {
  data: { link: PaymentLinkState; transaction?: LinkTransaction | UnappliedTransaction };
  envelope: Envelope;
  traceparent: string | undefined;
};

/**
 * Stores each link's latest state, and creates one delivery per webhook event and enabled endpoint
 * of the owner. Both happen in one transaction, so no webhook contains a state that is older than
 * its event.
 *
 * Every record contains the link's whole state. If versions are missing before it, they are
 * therefore not needed and only counted. Duplicate events do not create deliveries, even for
 * endpoints that are newer than the first event.
 */
export const receiveLinks =
  (dependencies: Dependencies) =>
  async (tx: Transaction, events: readonly LinkEvent[]): Promise<void> => {
    const links = events.map(({ data }) => data.link);
    const newestLinks = pickNewestStates(events);
    const storedLinks = await recordLinks(tx, newestLinks);
    for (let jumps = countVersionJumps(links, storedLinks); jumps > 0; jumps -= 1) {
      // A retried transaction counts its gaps again. The metric shows that there are gaps, not how
      // many.
      dependencies.countVersionJump();
    }
    const newEvents = events.flatMap((event) => {
      const eventType = webhookTypes.find((type) => type === event.envelope.type);
      const isSkipped = eventType === undefined || isDuplicate(event, storedLinks);
      return isSkipped ? [] : [{ ...event, eventType }];
    });
    // The check above does not detect two copies of an event in one batch.
    const pendingEvents = [
      ...new Map(newEvents.map((event) => [event.envelope.id, event])).values(),
    ];
    if (pendingEvents.length === 0) return;
    const userIds = [...new Set(pendingEvents.map(({ data }) => data.link.userId))];
    const destinations = await listEnabledEndpoints(tx, userIds);
    const destinationsByUser = Map.groupBy(destinations, ({ userId }) => userId);
    const deliveries = pendingEvents.flatMap((event) =>
      (destinationsByUser.get(event.data.link.userId) ?? [])
        .filter((endpoint) => isDueTo(endpoint, event, storedLinks))
        .map(({ endpointId }) => createDelivery(event, endpointId, dependencies.clock.now())),
    );
    // Omits links that have a newer stored state. Their deliveries wait in the queue, and read that
    // state when they are claimed.
    const currentLinks = newestLinks.flatMap(({ link }) =>
      isNewer(link, storedLinks) ? [link] : [],
    );
    await insertAndLease(tx, dependencies, {
      deliveries,
      destinations,
      links: currentLinks,
    });
    // Last, because other events of these accounts wait for the listeners' locks.
    const hasListenerEvents = await storeListenerEvents(tx, {
      userIds,
      now: dependencies.clock.now(),
      listEvents: () => pendingEvents.map((event) => toAccountEvent(event, storedLinks)),
    });
    if (hasListenerEvents) afterCommit(tx, () => dependencies.listenerStreams.wake());
  };

/**
 * Returns whether an event is not newer than the stored link, neither by version nor by time. The
 * time is needed because a source that was restored from a backup repeats version numbers.
 */
const isDuplicate = (
  { data: { link }, envelope }: LinkEvent,
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): boolean => {
  const storedLink = storedLinks.get(link.id);
  return (
    storedLink !== undefined &&
    link.version <= storedLink.version &&
    storedLink.publishedAt !== null &&
    envelope.occurredAt <= storedLink.publishedAt
  );
};

const isNewer = (
  { id, version }: PaymentLinkState,
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): boolean => version > (storedLinks.get(id)?.version ?? 0);

/**
 * Returns whether an endpoint or a listener gets an event of its account. It must have the link's
 * mode. After its source was restored from a backup, an event can have a lower version than the
 * stored link. Such a version is not stored, so the event may be a duplicate from before the
 * receiver was created. Only receivers that are older than the event get it.
 */
const isDueTo = (
  { dateCreated, mode }: Receiver,
  { data: { link }, envelope }: LinkEvent,
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): boolean =>
  mode === (link.mode ?? "live") &&
  (isNewer(link, storedLinks) || dateCreated <= envelope.occurredAt);

/** Returns one state per link, because one statement must not write the same row twice. */
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

const createDelivery = (
  { data, envelope, eventType, traceparent }: LinkEvent & { eventType: WebhookType },
  endpointId: string,
  dateCreated: Date,
) => ({
  id: createDeterministicId("evt", [envelope.id, endpointId]),
  endpointId,
  eventId: envelope.id,
  // The time of the payment cannot be used, because a restored service can detect the payment again
  // later.
  earliestPublishedAt: data.link.dateCreated,
  linkId: data.link.id,
  eventType,
  occurredAt: envelope.occurredAt,
  transaction: encodeTransaction(data.transaction),
  traceparent: traceparent ?? null,
  dateCreated,
});

const toAccountEvent = (
  event: LinkEvent & { eventType: WebhookType },
  storedLinks: ReadonlyMap<string, StoredLinkVersion>,
): AccountEvent => {
  const { data, envelope, eventType } = event;
  return {
    userId: data.link.userId,
    eventId: envelope.id,
    linkId: data.link.id,
    eventType,
    occurredAt: envelope.occurredAt,
    transaction: encodeTransaction(data.transaction),
    isDueTo: (receiver) => isDueTo(receiver, event, storedLinks),
  };
};

const encodeTransaction = (transaction: LinkTransaction | UnappliedTransaction | undefined) => {
  if (transaction === undefined) return null;
  return "reason" in transaction
    ? z.encode(UnappliedTransaction, transaction)
    : z.encode(LinkTransaction, transaction);
};

/**
 * Inserts deliveries. Those that this process can send immediately are leased in the same statement
 * and sent from memory while the transaction commits. The others wait in the queue for any process
 * with capacity.
 */
const insertAndLease = async (
  tx: Transaction,
  { clock, dispatcher, schedule: [firstAttemptDelayMs = 0], targets }: Dependencies,
  {
    deliveries,
    destinations,
    links,
  }: {
    deliveries: readonly ReturnType<typeof createDelivery>[];
    /** The destinations of the deliveries. Each endpoint appears once. */
    destinations: readonly Destination[];
    /** The links in their latest state. Deliveries of other links wait in the queue. */
    links: readonly Link[];
  },
): Promise<void> => {
  const remainingCapacity = new Map(
    firstAttemptDelayMs > 0 ? [] : dispatcher.capacityForNewDeliveries(destinations),
  );
  const leaseUntil = dispatcher.computeLeaseUntil();
  const nextAttemptAt = afterMs(clock, firstAttemptDelayMs);
  const linkIds = new Set(links.map(({ id }) => id));
  const rows = deliveries.map((delivery): NewDelivery => {
    const capacity = remainingCapacity.get(delivery.endpointId) ?? 0;
    if (capacity === 0 || !linkIds.has(delivery.linkId)) {
      return { ...delivery, nextAttemptAt, leaseUntil: null };
    }
    remainingCapacity.set(delivery.endpointId, capacity - 1);
    return { ...delivery, nextAttemptAt: null, leaseUntil };
  });
  const createdIds = await insertDeliveries(tx, rows);
  const created = rows.filter(({ id }) => createdIds.has(id));
  const leased = created.filter((row) => row.leaseUntil !== null);
  const attempts = await prepareAttempts(tx, targets, {
    deliveries: leased.map((delivery) => ({ ...delivery, attempts: 1 })),
    destinations,
    links,
    leaseUntil,
    leasing: trackLeasing(tx),
  });
  const waiting = created.filter((row) => row.leaseUntil === null);
  const waitingIds = new Set(waiting.map(({ endpointId }) => endpointId));
  const waitingDestinations = destinations.filter(({ endpointId }) => waitingIds.has(endpointId));
  dispatcher.sendLeased(attempts);
  if (waitingDestinations.length > 0)
    afterCommit(tx, () => dispatcher.noteQueued(waitingDestinations));
};

const trackLeasing = (tx: Transaction): Leasing => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const leasing: Leasing = { isCommitted: undefined, ended: promise };
  onTransactionEnd(tx, (isCommitted) => {
    leasing.isCommitted = isCommitted;
    resolve(isCommitted);
  });
  return leasing;
};
