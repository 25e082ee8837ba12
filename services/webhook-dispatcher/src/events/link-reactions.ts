import { type RegisteredHandler, onChunk } from "@payment-links/bus";
import {
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import type { EventDependencies } from "../dependencies.ts";
import { receiveLinks } from "./receive-links.ts";

/** Returns the handlers for the event types of `payment-links.v1` (rule EVENT-6). */
export const linkReactions = (dependencies: EventDependencies): readonly RegisteredHandler[] =>
  onChunk(
    [linkCreated, linkTransactionSucceeded, linkCompleted, linkDeactivated, linkSnapshot],
    receiveLinks(dependencies),
  );
