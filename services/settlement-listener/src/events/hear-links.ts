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
import { rescanForLate } from "../sightings/rescan-for-late.ts";
import { type NamedLink, lockLinks, saveKnownLinks, saveLinks } from "../store/links.ts";
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
    const now = clock.now();
    const links = [...newestOf(events.map(({ data }) => data.link)).values()].map((link) =>
      nameLink(catalogue, link, now),
    );
    // Only Solana is read by the accounts of owners, and asks for some more often than for others.
    const ofSolana = links.filter(({ chainId }) => chainTypeOf(catalogue, chainId) === "SVM");
    await saveHearing(tx, ofSolana, now);
    const unheard = await saveHeard(tx, links);
    if (unheard.length === 0) return;
    await publishParked(
      tx,
      unheard.map(({ id }) => id),
      now,
    );
    await claimTransfers(tx, unheard, now);
    await rescanForLate(tx, unheard, now);
  };

/**
 * Saves the links, and answers those that were heard of for the first time, locked. Only they must be
 * locked: for a link that is known nobody parks anything.
 */
const saveHeard = async (
  tx: Transaction,
  links: readonly NamedLink[],
): Promise<readonly NamedLink[]> => {
  // A link's first version is mostly heard of first: it is not worth a look.
  const changed = links.filter(({ version }) => version > firstVersion);
  const known = changed.length === 0 ? [] : await saveKnownLinks(tx, changed);
  const knownIds = new Set(known.filter(({ wasKnown }) => wasKnown).map(({ id }) => id));
  const unknown = links.filter(({ id }) => !knownIds.has(id));
  if (unknown.length === 0) return [];
  await lockLinks(
    tx,
    unknown.map(({ id }) => id),
  );
  const saved = await saveLinks(tx, unknown);
  const firstIds = new Set(saved.filter(({ wasKnown }) => !wasKnown).map(({ id }) => id));
  return unknown.filter(({ id }) => firstIds.has(id));
};

const firstVersion = 1;

const newestOf = (links: readonly PaymentLinkState[]): ReadonlyMap<string, PaymentLinkState> => {
  const newest = new Map<string, PaymentLinkState>();
  for (const link of links) {
    if (link.version > (newest.get(link.id)?.version ?? 0)) newest.set(link.id, link);
  }
  return newest;
};

const nameLink = (catalogue: Catalogue, link: PaymentLinkState, now: Date): NamedLink => {
  const chainType = chainTypeOf(catalogue, link.chainId);
  return {
    ...link,
    referenceHash: referenceHashOf(chainType, link),
    // The clocks of two services may differ. What is seen from now on is the link's in any case.
    paidFrom: chainType === "BVM" ? (link.dateCreated < now ? link.dateCreated : now) : null,
  };
};

/** How payments find a link is its family's. On a chain that the catalogue lacks nobody looks for any. */
const chainTypeOf = ({ chains }: Catalogue, chainId: string): ChainType =>
  chains.find(({ id }) => id === chainId)?.chainType ?? "EVM";
