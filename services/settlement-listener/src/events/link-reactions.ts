import { type Reaction, onTogether } from "@payment-links/bus";
import {
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import { hearLinks } from "./hear-links.ts";

/**
 * This service does the same at each type of `payment-links.v1`, as each carries the whole link.
 */
export const linkReactions = (ground: Parameters<typeof hearLinks>[0]): readonly Reaction[] =>
  onTogether(
    [linkCreated, linkTransactionSucceeded, linkCompleted, linkDeactivated, linkSnapshot],
    hearLinks(ground),
  );
