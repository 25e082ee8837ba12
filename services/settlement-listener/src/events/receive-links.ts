import {
  type Catalogue,
  type ChainType,
  type PaymentLinkState,
  computeReferenceHash,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { claimTransfers } from "../payment-reports/claim-transfers.ts";
import { publishDeferredPayments } from "../payment-reports/publish-deferred-payments.ts";
import { rescanForLateLinks } from "../payment-reports/rescan-for-late-links.ts";
import { type WatchedLink, lockLinks, saveKnownLinks, saveLinks } from "../store/links.ts";
import { saveLinkOwners } from "../store/owner-addresses.ts";

/**
 * Consumes events of `payment-links.v1`, many in a few statements. Each contains the link's full
 * state, so the highest version wins, whatever the event type. A link's first event publishes the
 * payments that were deferred for it, and claims the transfers that were seen for its reference.
 */
export const receiveLinks =
  ({ catalogue, clock }: { catalogue: Catalogue; clock: Clock }) =>
  async (
    tx: Transaction,
    events: readonly { data: { link: PaymentLinkState } }[],
  ): Promise<void> => {
    const now = clock.now();
    const links = [...selectNewestVersions(events.map(({ data }) => data.link)).values()].map(
      (link) => toWatchedLink(catalogue, link, now),
    );
    // Only Solana is read by owner account, with some accounts polled more often than others.
    const solanaLinks = links.filter(({ chainId }) => getChainType(catalogue, chainId) === "SVM");
    await saveLinkOwners(tx, solanaLinks, now);
    const newLinks = await saveReceivedLinks(tx, links);
    if (newLinks.length === 0) return;
    await publishDeferredPayments(
      tx,
      newLinks.map(({ id }) => id),
      now,
    );
    await claimTransfers(tx, newLinks, now);
    await rescanForLateLinks(tx, newLinks, now);
  };

/**
 * Saves the links. Returns those received for the first time, locked. Known links need no lock,
 * because no payment is deferred for them.
 */
const saveReceivedLinks = async (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly WatchedLink[]> => {
  // A first version usually belongs to a new link, so a lookup is not worthwhile.
  const updatedLinks = links.filter(({ version }) => version > firstVersion);
  const knownLinks = updatedLinks.length === 0 ? [] : await saveKnownLinks(tx, updatedLinks);
  const knownIds = new Set(knownLinks.filter(({ wasKnown }) => wasKnown).map(({ id }) => id));
  const unknownLinks = links.filter(({ id }) => !knownIds.has(id));
  if (unknownLinks.length === 0) return [];
  await lockLinks(
    tx,
    unknownLinks.map(({ id }) => id),
  );
  const savedLinks = await saveLinks(tx, unknownLinks);
  const newIds = new Set(savedLinks.filter(({ wasKnown }) => !wasKnown).map(({ id }) => id));
  return unknownLinks.filter(({ id }) => newIds.has(id));
};

const firstVersion = 1;

const selectNewestVersions = (
  links: readonly PaymentLinkState[],
): ReadonlyMap<string, PaymentLinkState> => {
  const newestById = new Map<string, PaymentLinkState>();
  for (const link of links) {
    if (link.version > (newestById.get(link.id)?.version ?? 0)) newestById.set(link.id, link);
  }
  return newestById;
};

const toWatchedLink = (catalogue: Catalogue, link: PaymentLinkState, now: Date): WatchedLink => {
  const chainType = getChainType(catalogue, link.chainId);
  return {
    ...link,
    referenceHash: computeReferenceHash(chainType, link),
    // The clocks of two services may differ. Money seen from now on belongs to the link in any
    // case.
    paidFrom: chainType === "BVM" ? (link.dateCreated < now ? link.dateCreated : now) : null,
  };
};

/**
 * Returns the chain family, which determines how payments refer to a link. A chain that the
 * catalogue lacks is not watched, so any value works.
 */
const getChainType = ({ chains }: Catalogue, chainId: string): ChainType =>
  chains.find(({ id }) => id === chainId)?.chainType ?? "EVM";
