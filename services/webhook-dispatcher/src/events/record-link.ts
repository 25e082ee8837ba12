import type { PaymentLinkState } from "@payment-links/contracts";
import type { EventDeps } from "../deps.ts";
import { recordLink as storeLink } from "../store/links.ts";
import type { Transaction } from "../store/transaction.ts";

/**
 * Every record of `payment-links.v1` carries the link's whole state: the higher version is kept,
 * whatever the type. A jump in versions is counted; the record itself makes up for what was missed.
 */
export const recordLink =
  ({ countVersionJump }: EventDeps) =>
  async (tx: Transaction, { link }: { link: PaymentLinkState }): Promise<void> => {
    const versionBefore = await storeLink(tx, link);
    // A transaction that is run again counts again: the number says that there are jumps, not how many.
    if (versionBefore !== null && link.version > versionBefore + 1) countVersionJump();
  };
