import { type Reaction, on } from "@payment-links/bus";
import {
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import { hearLink } from "./hear-link.ts";

/**
 * This service does the same at each type of `payment-links.v1`, as each carries the whole link.
 */
export const linkReactions = (clock: Clock): readonly Reaction[] => {
  const hear = hearLink(clock);
  return [
    on(linkCreated, hear),
    on(linkTransactionSucceeded, hear),
    on(linkCompleted, hear),
    on(linkDeactivated, hear),
    on(linkSnapshot, hear),
  ];
};
