import type { PaymentLinkState } from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import { releaseLink } from "../sightings/release-link.ts";
import { findLinkVersion, lockLink, saveLink } from "../store/links.ts";
import type { Transaction } from "../store/transaction.ts";

/**
 * Any record of `payment-links.v1`: each carries the link's whole state, so the higher version is
 * kept whatever the type. The first record of a link ends the parking of the payments for it.
 */
export const hearLink =
  (clock: Clock) =>
  async (tx: Transaction, { link }: { link: PaymentLinkState }): Promise<void> => {
    await lockLink(tx, link.id);
    const keptVersion = await findLinkVersion(tx, link.id);
    if (keptVersion !== undefined && keptVersion >= link.version) return;
    await saveLink(tx, link);
    if (keptVersion === undefined) await releaseLink(tx, link.id, clock.now());
  };
