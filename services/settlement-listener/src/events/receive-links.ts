import { type ChainFamily, getFamily } from "@payment-links/chains";
import type { Catalogue, PaymentLinkState } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { claimTransfers } from "../payment-reports/claim-transfers.ts";
import { publishDeferredPayments } from "../payment-reports/publish-deferred-payments.ts";
import { rescanForLateLinks } from "../payment-reports/rescan-for-late-links.ts";
import { type WatchedLink, lockLinks, saveKnownLinks, saveLinks } from "../store/links.ts";
import { saveLinkOwners } from "../store/owner-addresses.ts";

/**
 * Consumes a batch of events of `payment-links.v1` in a few statements. Each event contains the
 * link's full state, so the highest version wins, whatever the event type. The first event of a
 * link publishes the payments that were deferred for it, and claims the transfers with its
 * reference.
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
    // A chain that is polled by owner account polls some accounts more often than others.
    const polledLinks = links.filter(
      ({ chainId }) => findFamily(catalogue, chainId).isPolledByAccount,
    );
    await saveLinkOwners(tx, polledLinks, now);
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
 * Saves the links. Returns the new ones, locked. Known links need no lock, because they have no
 * deferred payments.
 */
const saveReceivedLinks = async (
  tx: Transaction,
  links: readonly WatchedLink[],
): Promise<readonly WatchedLink[]> => {
  // A first version usually belongs to a new link, so a lookup first would rarely help.
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
  const family = findFamily(catalogue, link.chainId);
  return {
    ...link,
    referenceHash: family.computeReferenceHash(link),
    // The clocks of the two services can differ. Money that arrives from now on pays the link in
    // any case.
    paidFrom:
      family.linkAddresses === undefined ? null : link.dateCreated < now ? link.dateCreated : now,
  };
};

/**
 * Returns the chain's family, which determines how payments identify a link. A chain that is not in
 * the catalogue is not watched, so any value works for it.
 */
const findFamily = ({ chains }: Catalogue, chainId: string): ChainFamily =>
  getFamily(chains.find(({ id }) => id === chainId)?.chainType ?? "EVM");
