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
 * Creates the handlers for `payment-links.v1`. All event types with a link have the same handler,
 * because each contains the whole link. Another handler stores addresses that are reserved for
 * future links.
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
