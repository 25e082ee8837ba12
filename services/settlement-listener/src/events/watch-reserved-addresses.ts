import type { EventHandler } from "@payment-links/bus";
import type { bitcoinAddressesReserved } from "@payment-links/contracts";
import { insertOwnerAddresses } from "../store/owner-addresses.ts";

/** Watches addresses of Bitcoin before links have them, to know which money is older than its link. */
export const watchReservedAddresses: EventHandler<typeof bitcoinAddressesReserved> = (
  tx,
  { addresses, chainId },
) => insertOwnerAddresses(tx, chainId, addresses);
