import type { AfterCommitHook } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { type Clock, afterMs } from "@payment-links/runtime";
import type { Link } from "../domain/link.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { Destination } from "../domain/schedule/slots.ts";
import { type NewDelivery, insertDeliveries } from "../store/deliveries.ts";
import { prepareAttempts } from "./claim-attempts.ts";
import type { Dispatcher } from "./create-dispatcher.ts";
import type { Targets } from "./targets.ts";

/** A pending delivery whose first attempt is not scheduled yet. */
export type UnscheduledDelivery = Omit<NewDelivery, "nextAttemptAt" | "leaseUntil">;

type CreateDeliveriesDependencies = {
  clock: Clock;
  schedule: RetrySchedule;
  targets: Targets;
  dispatcher: Dispatcher;
};

type DeliveriesToCreate = {
  deliveries: readonly UnscheduledDelivery[];
  /** The destinations of the deliveries. Each endpoint appears once. */
  destinations: readonly Destination[];
  /** The links in their latest state. Deliveries of other links wait in the queue. */
  links: readonly Link[];
};

/**
 * Creates deliveries. Those that this process can send immediately are leased in the same statement
 * and sent from memory after the commit. The others wait in the queue for any process with
 * capacity.
 */
export const createDeliveries = async (
  tx: Transaction,
  { clock, dispatcher, schedule, targets }: CreateDeliveriesDependencies,
  { deliveries, destinations, links }: DeliveriesToCreate,
): Promise<AfterCommitHook> => {
  const [firstAttemptDelayMs = 0] = schedule;
  const remainingCapacity = new Map(
    firstAttemptDelayMs > 0 ? [] : dispatcher.capacityForNewDeliveries(destinations),
  );
  const leaseUntil = dispatcher.computeLeaseUntil();
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
  return () => dispatcher.acceptDeliveries(routedAttempts, waitingDestinations);
};
