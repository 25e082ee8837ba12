import { type RegisteredHandler, on, onChunk } from "@payment-links/bus";
import {
  bitcoinAddressesReserved,
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
} from "@payment-links/contracts";
import { receiveLinks } from "./receive-links.ts";
import { watchReservedAddresses } from "./watch-reserved-addresses.ts";

/**
 * This service does the same at each type of `payment-links.v1` that carries a link, as each carries the whole
 * link. It also watches the addresses that are reserved for the next links.
 */
export const createLinkEventHandlers = (
  context: Parameters<typeof receiveLinks>[0],
): readonly RegisteredHandler[] => [
  ...onChunk(
    [linkCreated, linkTransactionSucceeded, linkCompleted, linkDeactivated, linkSnapshot],
    receiveLinks(context),
  ),
  on(bitcoinAddressesReserved, watchReservedAddresses),
];
