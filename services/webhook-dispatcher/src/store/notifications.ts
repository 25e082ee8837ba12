import { createOutgoingEvent, publish } from "@payment-links/bus";
import { endpointFailing } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { NewlyFailingEndpoint } from "./endpoints.ts";

/** Publishes that endpoints started to fail (rule MAIL-3). */
export const publishFailingEndpoints = (
  tx: Transaction,
  endpoints: readonly NewlyFailingEndpoint[],
  now: Date,
): Promise<void> =>
  publish(
    tx,
    endpoints.map((endpoint) =>
      createOutgoingEvent(endpointFailing, {
        key: endpoint.accountId,
        occurredAt: now,
        data: endpoint,
      }),
    ),
  );
