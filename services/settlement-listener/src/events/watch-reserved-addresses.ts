import type { EventHandler } from "@payment-links/bus";
import type { bitcoinAddressesReserved } from "@payment-links/contracts";
import { insertOwnerAddresses } from "../store/owner-addresses.ts";

/**
 * Stores Bitcoin addresses to watch before any link has them. Money that arrives there before its
 * link exists can then be recognized as older than the link (rule CHAIN-28).
 */
export const watchReservedAddresses: EventHandler<typeof bitcoinAddressesReserved> = (
  tx,
  { addresses, chainId },
) => insertOwnerAddresses(tx, chainId, addresses);
