import { type PaymentLinkState, keccak256Hex } from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import type { Transaction } from "@payment-links/postgres";
import { claimTransfers } from "../sightings/claim-transfers.ts";
import { publishParked } from "../sightings/publish-parked.ts";
import { findLinkVersion, lockLink, saveLink } from "../store/links.ts";

/**
 * Hears any record of `payment-links.v1`. Each carries the link's whole state, so the higher
 * version counts, whatever the type. A link's first record publishes the payments that were parked
 * for it, and claims the transfers that were seen for its reference.
 */
export const hearLink =
  (clock: Clock) =>
  async (tx: Transaction, { link }: { link: PaymentLinkState }): Promise<void> => {
    await lockLink(tx, link.id);
    const keptVersion = await findLinkVersion(tx, link.id);
    if (keptVersion !== undefined && keptVersion >= link.version) return;
    await saveLink(tx, link);
    if (keptVersion !== undefined) return;
    const now = clock.now();
    await publishParked(tx, link.id, now);
    const referenceHash = keccak256Hex(link.paymentReference);
    await claimTransfers(tx, { linkId: link.id, referenceHash }, now);
  };
