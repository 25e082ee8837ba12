import { createOutgoingEvent, publish } from "@payment-links/bus";
import {
  type BitcoinChainId,
  deriveBitcoinAddresses,
  bitcoinAddressesReserved,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { saveReservedTo } from "./bitcoin-addresses.ts";

/** At least so many addresses of a key are watched before links have them: as far as most wallets look ahead. */
const reservedMin = 20;
/** Reserving takes some milliseconds while the key is locked, so it happens only once in a while. */
const reservedMax = 40;

type BitcoinKey = { chainId: BitcoinChainId; descriptor: string; keyId: string };

/**
 * Reserves the addresses of a key that follow an index: settlement-listener watches them from now on, so
 * that it knows which money is older than its link (rule CHAIN-28). The key is locked by the caller.
 */
export const reserveAddresses = async (
  tx: Transaction,
  { chainId, descriptor, keyId }: BitcoinKey,
  { nextIndex, reservedTo, now }: { nextIndex: number; reservedTo: number; now: Date },
): Promise<void> => {
  if (reservedTo - nextIndex >= reservedMin) return;
  const startIndex = Math.max(nextIndex, reservedTo);
  const count = nextIndex + reservedMax - startIndex;
  const addresses = deriveBitcoinAddresses(chainId, descriptor, { startIndex, count });
  const [partitionKey = ""] = addresses;
  await saveReservedTo(tx, keyId, startIndex + count);
  await publish(tx, [
    createOutgoingEvent(bitcoinAddressesReserved, {
      key: partitionKey,
      occurredAt: now,
      data: { chainId, addresses },
    }),
  ]);
};
