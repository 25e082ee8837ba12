import { outgoing, publish } from "@payment-links/bus";
import {
  type BitcoinChainId,
  bitcoinAddresses,
  bitcoinAddressesReserved,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { saveReserved } from "./bitcoin-addresses.ts";

/** At least so many addresses of a key are watched before links have them: as far as most wallets look ahead. */
const reservedMin = 20;
/** Reserving takes some milliseconds while the key is locked, so it happens only once in a while. */
const reservedMax = 40;

type Key = { chainId: BitcoinChainId; descriptor: string; keyId: string };

/**
 * Reserves the addresses of a key that follow an index: settlement-listener watches them from now on, so
 * that it knows which money is older than its link (rule CHAIN-28). The key is locked by the caller.
 */
export const reserveAddresses = async (
  tx: Transaction,
  { chainId, descriptor, keyId }: Key,
  { nextIndex, reservedTo, now }: { nextIndex: number; reservedTo: number; now: Date },
): Promise<void> => {
  if (reservedTo - nextIndex >= reservedMin) return;
  const from = Math.max(nextIndex, reservedTo);
  const count = nextIndex + reservedMax - from;
  const addresses = bitcoinAddresses(chainId, descriptor, { from, count });
  const [key = ""] = addresses;
  await saveReserved(tx, keyId, from + count);
  await publish(tx, [
    outgoing(bitcoinAddressesReserved, { key, occurredAt: now, data: { chainId, addresses } }),
  ]);
};
