import { createOutgoingEvent, publish } from "@payment-links/bus";
import {
  type BitcoinChainId,
  deriveBitcoinAddresses,
  bitcoinAddressesReserved,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { saveReservedTo } from "./bitcoin-addresses.ts";

/**
 * At least this many addresses of a key are watched before links get them. Most wallets look this
 * far ahead.
 */
const reservedMin = 20;
/**
 * Reserving takes some milliseconds while the key is locked, so addresses are reserved in batches.
 */
const reservedMax = 40;

type BitcoinKey = { chainId: BitcoinChainId; descriptor: string; keyId: string };

/**
 * Reserves the addresses of a key after an index. settlement-listener watches them from then on, so
 * it can tell which money is older than its link (rule CHAIN-28). The caller must have locked the
 * key.
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
