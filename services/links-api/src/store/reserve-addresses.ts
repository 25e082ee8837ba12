import { createOutgoingEvent, publish } from "@payment-links/bus";
import {
  type BitcoinChainId,
  deriveBitcoinAddresses,
  bitcoinAddressesReserved,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { saveReservedTo } from "./bitcoin-addresses.ts";

/**
 * The minimum number of a key's addresses that are watched before links get them. Most wallets look
 * this far ahead.
 */
const reservedMin = 20;
/**
 * The number of reserved addresses after a batch. They are reserved in batches, because each
 * reservation keeps the key locked for a few milliseconds.
 */
const reservedMax = 40;

type BitcoinKey = { chainId: BitcoinChainId; descriptor: string; keyId: string };

/**
 * Reserves the next addresses of a key if too few are reserved. settlement-listener watches
 * addresses from their reservation on, so that it can recognize money that is older than the link
 * (rule CHAIN-28). The caller must have locked the key.
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
