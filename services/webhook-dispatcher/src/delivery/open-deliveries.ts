import type { AfterCommit } from "@payment-links/bus";
import type { Transaction } from "@payment-links/postgres";
import { type Clock, afterMs } from "@payment-links/runtime";
import type { Link } from "../domain/link.ts";
import type { Place } from "../domain/schedule/slots.ts";
import { type NewDelivery, insertDeliveries } from "../store/deliveries.ts";
import { prepareAttempts } from "./claim-attempts.ts";
import type { Dispatcher } from "./start-dispatcher.ts";
import type { Targets } from "./targets.ts";

/** A delivery that is owed, before it is known when its first attempt is made. */
export type OwedDelivery = Omit<NewDelivery, "nextAttemptAt" | "leaseUntil">;

/** What deliveries are opened with. */
export type OpeningDeps = {
  clock: Clock;
  /** How long after its event a delivery's first attempt is due. */
  firstWaitMs: number;
  targets: Targets;
  /** Sends in this process; undefined before it is started. */
  dispatcher: () => Dispatcher | undefined;
};

type Opening = {
  deliveries: readonly OwedDelivery[];
  /** Where they go, each endpoint once. */
  places: readonly Place[];
  /** The links in their newest state; a delivery of any other link waits until it is claimed. */
  links: readonly Link[];
};

/**
 * Opens deliveries. Those that this process can send at once are leased in the same statement, and
 * sent from memory once the transaction is committed. The rest waits in the queue for whoever has
 * room.
 */
export const openDeliveries = async (
  tx: Transaction,
  { clock, dispatcher: findDispatcher, firstWaitMs, targets }: OpeningDeps,
  { deliveries, places, links }: Opening,
): Promise<AfterCommit> => {
  const dispatcher = findDispatcher();
  const left = new Map(firstWaitMs > 0 ? [] : dispatcher?.room(places));
  const leaseUntil = dispatcher?.leaseUntil() ?? clock.now();
  const linkIds = new Set(links.map(({ id }) => id));
  const nextAttemptAt = afterMs(clock, firstWaitMs);
  const rows = deliveries.map((delivery): NewDelivery => {
    const room = left.get(delivery.endpointId) ?? 0;
    if (room === 0 || !linkIds.has(delivery.linkId)) {
      return { ...delivery, nextAttemptAt, leaseUntil: null };
    }
    left.set(delivery.endpointId, room - 1);
    return { ...delivery, nextAttemptAt: null, leaseUntil };
  });
  const openedIds = await insertDeliveries(tx, rows);
  const opened = rows.filter(({ id }) => openedIds.has(id));
  const leased = await prepareAttempts(tx, targets, {
    deliveries: opened
      .filter((row) => row.leaseUntil !== null)
      .map((delivery) => ({ ...delivery, attempts: 1 })),
    links,
    leaseUntil,
  });
  const placeOf = new Map(places.map((place) => [place.endpointId, place]));
  const placed = leased.flatMap((one) => {
    const place = placeOf.get(one.delivery.endpointId);
    return place === undefined ? [] : [{ ...one, place }];
  });
  const waitingIds = new Set(
    opened.filter((row) => row.leaseUntil === null).map(({ endpointId }) => endpointId),
  );
  const waiting = places.filter(({ endpointId }) => waitingIds.has(endpointId));
  return () => dispatcher?.opened(placed, waiting);
};
