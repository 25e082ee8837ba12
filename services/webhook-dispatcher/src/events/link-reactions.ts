import { type Reaction, on } from "@payment-links/bus";
import {
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import type { EventDeps } from "../deps.ts";
import { openDeliveries } from "./open-deliveries.ts";
import { recordLink } from "./record-link.ts";

/** What this service does at each type of `payment-links.v1`; two of them become webhooks (spec §6.2). */
export const linkReactions = (deps: EventDeps): readonly Reaction[] => [
  on(linkCreated, recordLink(deps)),
  on(linkTransactionSucceeded, openDeliveries(deps, "payment_link.transaction.succeeded")),
  on(linkCompleted, openDeliveries(deps, "payment_link.completed")),
  on(linkDeactivated, recordLink(deps)),
  on(linkSnapshot, recordLink(deps)),
];
