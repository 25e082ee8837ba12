import { type Reaction, on, onTogether } from "@payment-links/bus";
import {
  bitcoinAddressesReserved,
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import { hearLinks } from "./hear-links.ts";
import { watchReservedAddresses } from "./watch-reserved-addresses.ts";

/**
 * This service does the same at each type of `payment-links.v1` that carries a link, as each carries the whole
 * link. It also watches the addresses that are reserved for the next links.
 */
export const linkReactions = (ground: Parameters<typeof hearLinks>[0]): readonly Reaction[] => [
  ...onTogether(
    [linkCreated, linkTransactionSucceeded, linkCompleted, linkDeactivated, linkSnapshot],
    hearLinks(ground),
  ),
  on(bitcoinAddressesReserved, watchReservedAddresses),
];
