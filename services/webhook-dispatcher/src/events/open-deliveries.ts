import type { Envelope } from "@payment-links/bus";
import {
  LinkTransaction,
  type PaymentLinkState,
  type WebhookType,
  newId,
} from "@payment-links/contracts";
import { activeTraceparent, afterMs } from "@payment-links/runtime";
import * as z from "zod";
import type { EventDeps } from "../deps.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { listEnabledEndpointIds, shareEndpoints } from "../store/endpoints.ts";
import type { Transaction } from "../store/transaction.ts";
import { recordLink } from "./record-link.ts";

type EventData = { link: PaymentLinkState; transaction?: LinkTransaction };

/**
 * An event that becomes a webhook: keeps the link's state and opens one delivery per endpoint that its
 * owner has enabled now, in one transaction, so that no webhook is older than its event.
 */
export const openDeliveries =
  (deps: EventDeps, eventType: WebhookType) =>
  async (tx: Transaction, data: EventData, envelope: Envelope): Promise<void> => {
    const { link, transaction } = data;
    await recordLink(deps)(tx, data);
    await shareEndpoints(tx, link.userId);
    const endpointIds = await listEnabledEndpointIds(tx, link.userId);
    const { clock, firstWaitMs } = deps;
    const event = {
      eventId: envelope.id,
      linkId: link.id,
      eventType,
      occurredAt: envelope.occurredAt,
      transaction: transaction === undefined ? null : z.encode(LinkTransaction, transaction),
      traceparent: activeTraceparent() ?? null,
      dateCreated: clock.now(),
      nextAttemptAt: afterMs(clock, firstWaitMs),
    };
    const deliveries = endpointIds.map((endpointId) => ({ id: newId("evt"), endpointId }));
    await insertDeliveries(tx, event, deliveries);
  };
