import type { EventHandler } from "@payment-links/bus";
import type { bitcoinAddressesReserved } from "@payment-links/contracts";
import { insertOwnerAddresses } from "../store/owner-addresses.ts";

/**
 * Watches Bitcoin addresses before links have them, to recognize money that is older than its link.
 */
export const watchReservedAddresses: EventHandler<typeof bitcoinAddressesReserved> = (
  tx,
  { addresses, chainId },
) => insertOwnerAddresses(tx, chainId, addresses);
