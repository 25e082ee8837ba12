import { type Pool, type Transaction, transact } from "@payment-links/postgres";
import type { Link } from "../domain/link.ts";
import { type ClaimedDelivery, claimDeliveries } from "../store/deliveries.ts";
import { findLinks } from "../store/links.ts";
import type { Attempt } from "./attempt/make-attempt.ts";
import type { Targets } from "./targets.ts";

/**
 * A leased delivery with everything that its attempt needs. `attempt` is null if the link or the
 * target is missing.
 */
export type LeasedAttempt = {
  delivery: ClaimedDelivery;
  leaseUntil: Date;
  attempt: Attempt | null;
};

type ClaimOptions = { pool: Pool; targets: Targets };

/**
 * Leases due deliveries and reads what their attempts need, in one transaction, so no delivery is
 * leased if the read fails. A link with several deliveries is read once, in its latest state.
 */
export const claimAttempts = (
  { pool, targets }: ClaimOptions,
  bounds: Parameters<typeof claimDeliveries>[1],
): Promise<LeasedAttempt[]> =>
  transact(pool, async (tx) => {
    const deliveries = await claimDeliveries(tx, bounds);
    if (deliveries.length === 0) return [];
    const links = await findLinks(tx, unique(deliveries.map(({ linkId }) => linkId)));
    return prepareAttempts(tx, targets, { deliveries, links, leaseUntil: bounds.leaseUntil });
  });

type AttemptInputs = {
  deliveries: readonly ClaimedDelivery[];
  links: readonly Link[];
  leaseUntil: Date;
};

/** Prepares the attempts of leased deliveries with the given link states. */
export const prepareAttempts = async (
  tx: Transaction,
  targets: Targets,
  { deliveries, links, leaseUntil }: AttemptInputs,
): Promise<LeasedAttempt[]> => {
  const targetsByEndpoint = await targets.get(
    tx,
    unique(deliveries.map((delivery) => delivery.endpointId)),
  );
  const linksById = new Map(links.map((link) => [link.id, link]));
  return deliveries.map((delivery) => {
    const target = targetsByEndpoint.get(delivery.endpointId);
    const link = linksById.get(delivery.linkId);
    const { traceparent, attempts } = delivery;
    const isRetry = attempts > 1;
    const attempt =
      target === undefined || link === undefined
        ? null
        : { event: delivery, link, ...target, traceparent, isRetry, leaseUntil };
    return { delivery, leaseUntil, attempt };
  });
};

const unique = (ids: readonly string[]): string[] => [...new Set(ids)];
