import { type Catalogue, type PaymentLinkState, referenceHashOf } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { claimTransfers } from "../sightings/claim-transfers.ts";
import { publishParked } from "../sightings/publish-parked.ts";
import { saveOwners } from "../store/chain-owners.ts";
import { type NamedLink, listLinkVersions, lockLinks, saveLinks } from "../store/links.ts";

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
    await saveLinks(tx, news);
    await saveOwners(tx, news, clock.now());
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

/** How payments find a link is its family's. On a chain that the catalogue lacks nobody looks for any. */
const nameLink = ({ chains }: Catalogue, link: PaymentLinkState): NamedLink => {
  const chain = chains.find(({ id }) => id === link.chainId);
  return { ...link, referenceHash: referenceHashOf(chain?.chainType ?? "EVM", link) };
};
