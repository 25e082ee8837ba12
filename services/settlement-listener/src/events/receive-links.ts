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
 * Hears records of `payment-links.v1`, many in a few statements. Each carries the link's whole state,
 * so the highest version counts, whatever the type. A link's first record publishes the payments that
 * were parked for it, and claims the transfers that were seen for its reference.
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
    // Only Solana is read by the accounts of owners, and asks for some more often than for others.
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
 * Saves the links, and answers those that were heard of for the first time, locked. Only they must be
 * locked: for a link that is known nobody parks anything.
 */
const saveReceivedLinks = async (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly WatchedLink[]> => {
  // A link's first version is mostly heard of first: it is not worth a look.
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
    // The clocks of two services may differ. What is seen from now on is the link's in any case.
    paidFrom: chainType === "BVM" ? (link.dateCreated < now ? link.dateCreated : now) : null,
  };
};

/** How payments find a link is its family's. On a chain that the catalogue lacks nobody looks for any. */
const getChainType = ({ chains }: Catalogue, chainId: string): ChainType =>
  chains.find(({ id }) => id === chainId)?.chainType ?? "EVM";
