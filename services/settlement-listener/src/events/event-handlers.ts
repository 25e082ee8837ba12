import { type RegisteredHandler, on, onChunk } from "@payment-links/bus";
import { bitcoinAddressesReserved, linkEvents } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { insertOwnerAddresses } from "../store/owner-addresses.ts";
import { receiveLinks } from "./receive-links.ts";

/**
 * Returns the handlers for `payment-links.v1`. All event types with a link have the same handler,
 * because each contains the whole link.
 */
export const createEventHandlers = (dependencies: Dependencies): readonly RegisteredHandler[] => [
  ...onChunk(linkEvents, receiveLinks(dependencies)),
  // Stores Bitcoin addresses to watch before any link has them. Money that arrives there before its
  // link exists can then be recognized as older than the link (rule CHAIN-28).
  on(bitcoinAddressesReserved, (tx, { addresses, chainId }) =>
    insertOwnerAddresses(tx, chainId, addresses),
  ),
];
