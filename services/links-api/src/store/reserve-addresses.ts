import { createOutgoingEvent, publish } from "@payment-links/bus";
import type { LinkAddresses } from "@payment-links/chains";
import { bitcoinAddressesReserved } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { saveReservedTo } from "./link-addresses.ts";

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

/** The key of a wallet, from which the addresses of its links are derived. */
type WalletKey = {
  chainId: string;
  /** In the form in which the wallet stores it. */
  key: string;
  /** The id of the key's sequence of addresses. */
  keyId: string;
  linkAddresses: LinkAddresses;
};

/**
 * Reserves the next addresses of a key if too few are reserved. settlement-listener watches
 * addresses from their reservation on, so that it can recognize money that is older than the link
 * (rule CHAIN-28). The caller must have locked the key.
 */
export const reserveAddresses = async (
  tx: Transaction,
  { chainId, key, keyId, linkAddresses }: WalletKey,
  { nextIndex, reservedTo, now }: { nextIndex: number; reservedTo: number; now: Date },
): Promise<void> => {
  if (reservedTo - nextIndex >= reservedMin) return;
  const startIndex = Math.max(nextIndex, reservedTo);
  const count = nextIndex + reservedMax - startIndex;
  const addresses = linkAddresses.deriveAddresses(chainId, key, { startIndex, count });
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
