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
 * Handles all event types of `payment-links.v1` that carry a link in the same way, because each
 * carries the whole link. Also watches the addresses reserved for future links.
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
