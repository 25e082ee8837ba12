import { type PaymentLinkState, keccak256Hex } from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import type { Transaction } from "@payment-links/postgres";
import { claimTransfers } from "../sightings/claim-transfers.ts";
import { publishParked } from "../sightings/publish-parked.ts";
import { findLinkVersion, lockLink, saveLink } from "../store/links.ts";

/**
 * Any record of `payment-links.v1`: each carries the link's whole state, so the higher version is
 * kept whatever the type. The first record of a link ends the parking of the payments for it, and gives
 * it what was seen on chain for its reference before.
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
