import type { AfterCommitHook } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { type Clock, afterMs } from "@payment-links/runtime";
import type { Link } from "../domain/link.ts";
import type { Destination } from "../domain/schedule/slots.ts";
import { type NewDelivery, insertDeliveries } from "../store/deliveries.ts";
import { prepareAttempts } from "./claim-attempts.ts";
import type { Dispatcher } from "./start-dispatcher.ts";
import type { Targets } from "./targets.ts";

/** A delivery that is owed, before it is known when its first attempt is made. */
export type UnscheduledDelivery = Omit<NewDelivery, "nextAttemptAt" | "leaseUntil">;

/** What deliveries are opened with. */
export type CreateDeliveriesDependencies = {
  clock: Clock;
  /** How long after its event a delivery's first attempt is due. */
  firstAttemptDelayMs: number;
  targets: Targets;
  /** Sends in this process; undefined before it is started. */
  dispatcher: () => Dispatcher | undefined;
};

type DeliveriesToCreate = {
  deliveries: readonly UnscheduledDelivery[];
  /** Where they go, each endpoint once. */
  destinations: readonly Destination[];
  /** The links in their newest state; a delivery of any other link waits until it is claimed. */
  links: readonly Link[];
};

/**
 * Opens deliveries. Those that this process can send at once are leased in the same statement, and
 * sent from memory once the transaction is committed. The rest waits in the queue for whoever has
 * room.
 */
export const createDeliveries = async (
  tx: Transaction,
  { clock, dispatcher: getDispatcher, firstAttemptDelayMs, targets }: CreateDeliveriesDependencies,
  { deliveries, destinations, links }: DeliveriesToCreate,
): Promise<AfterCommitHook> => {
  const dispatcher = getDispatcher();
  const remainingCapacity = new Map(
    firstAttemptDelayMs > 0 ? [] : dispatcher?.capacityForNewDeliveries(destinations),
  );
  const leaseUntil = dispatcher?.computeLeaseUntil() ?? clock.now();
  const linkIds = new Set(links.map(({ id }) => id));
  const nextAttemptAt = afterMs(clock, firstAttemptDelayMs);
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
  const leasedAttempts = await prepareAttempts(tx, targets, {
    deliveries: created
      .filter((row) => row.leaseUntil !== null)
      .map((delivery) => ({ ...delivery, attempts: 1 })),
    links,
    leaseUntil,
  });
  const destinationByEndpoint = new Map(
    destinations.map((destination) => [destination.endpointId, destination]),
  );
  const routedAttempts = leasedAttempts.flatMap((leasedAttempt) => {
    const destination = destinationByEndpoint.get(leasedAttempt.delivery.endpointId);
    return destination === undefined ? [] : [{ ...leasedAttempt, destination }];
  });
  const waitingEndpointIds = new Set(
    created.filter((row) => row.leaseUntil === null).map(({ endpointId }) => endpointId),
  );
  const waitingDestinations = destinations.filter(({ endpointId }) =>
    waitingEndpointIds.has(endpointId),
  );
  return () => dispatcher?.acceptDeliveries(routedAttempts, waitingDestinations);
};
