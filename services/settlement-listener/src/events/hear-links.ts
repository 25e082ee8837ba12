import {
  type Catalogue,
  type ChainType,
  type PaymentLinkState,
  referenceHashOf,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { claimTransfers } from "../sightings/claim-transfers.ts";
import { publishParked } from "../sightings/publish-parked.ts";
import { type NamedLink, listLinkVersions, lockLinks, saveLinks } from "../store/links.ts";
import { saveHearing } from "../store/owner-addresses.ts";

/**
 * Hears records of `payment-links.v1`, many in a few statements. Each carries the link's whole state,
 * so the highest version counts, whatever the type. A link's first record publishes the payments that
 * were parked for it, and claims the transfers that were seen for its reference.
 */
export const hearLinks =
  ({ catalogue, clock }: { catalogue: Catalogue; clock: Clock }) =>
  async (
    tx: Transaction,
    events: readonly { data: { link: PaymentLinkState } }[],
  ): Promise<void> => {
    const newest = newestOf(events.map(({ data }) => data.link));
    const linkIds = [...newest.keys()];
    await lockLinks(tx, linkIds);
    const kept = await listLinkVersions(tx, linkIds);
    const news = [...newest.values()]
      .filter(({ id, version }) => version > (kept.get(id) ?? 0))
      .map((link) => nameLink(catalogue, link));
    if (news.length === 0) return;
    // Only Solana is read by the accounts of owners, and asks for some more often than for others.
    const ofSolana = news.filter(({ chainId }) => chainTypeOf(catalogue, chainId) === "SVM");
    await saveHearing(tx, ofSolana, clock.now());
    await saveLinks(tx, news);
    const unheard = news.filter(({ id }) => !kept.has(id));
    if (unheard.length === 0) return;
    const now = clock.now();
    await publishParked(
      tx,
      unheard.map(({ id }) => id),
      now,
    );
    await claimTransfers(tx, unheard, now);
  };

const newestOf = (links: readonly PaymentLinkState[]): ReadonlyMap<string, PaymentLinkState> => {
  const newest = new Map<string, PaymentLinkState>();
  for (const link of links) {
    if (link.version > (newest.get(link.id)?.version ?? 0)) newest.set(link.id, link);
  }
  return newest;
};

const nameLink = (catalogue: Catalogue, link: PaymentLinkState): NamedLink => ({
  ...link,
  referenceHash: referenceHashOf(chainTypeOf(catalogue, link.chainId), link),
});

/** How payments find a link is its family's. On a chain that the catalogue lacks nobody looks for any. */
const chainTypeOf = ({ chains }: Catalogue, chainId: string): ChainType =>
  chains.find(({ id }) => id === chainId)?.chainType ?? "EVM";
