import { type Reaction, onTogether } from "@payment-links/bus";
import {
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import type { EventDeps } from "../deps.ts";
import { hearLinks } from "./hear-links.ts";

/** What this service does at each type of `payment-links.v1` (rule EVENT-6). */
export const linkReactions = (deps: EventDeps): readonly Reaction[] =>
  onTogether(
    [linkCreated, linkTransactionSucceeded, linkCompleted, linkDeactivated, linkSnapshot],
    hearLinks(deps),
  );
