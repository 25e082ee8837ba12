import type { Request, Response } from "express";
import { OwnLinksFilter, checkoutPageUrl } from "@payment-links/contracts";
import { type ReadPart, csvForm, readQuery, writePart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { readSearch } from "../domain/link-search.ts";
import type { LinkView } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";
import {
  type LinkPlace,
  type WantedLinks,
  countWantedLinks,
  findLinkPlace,
  searchLinks,
} from "../store/link-search.ts";

/** GET /console/api/payment-links.csv: the owner's links, or those looked for (rule CALLER-27). */
export const exportLinks =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { q, token: tokenId, ...filter } = readQuery(req, OwnLinksFilter);
    const search = q === undefined ? undefined : readSearch(q);
    const wanted = { ...filter, search, tokenId, userId: account.id };
    await deps.exports.send(req, res, account.id, async (readPart) => {
      const { count, start } = await readPart((db) =>
        countWantedLinks(db, { ...wanted, now: deps.clock.now() }),
      );
      if (count !== undefined) res.setHeader("X-Total-Count", count);
      const { header, lineOf, type } = formOf(deps, account.handle ?? "");
      const chunks = () => chunksOf(deps, { wanted, start, readPart, header, lineOf });
      return { name: "payment-links.csv", type, chunks };
    });
  };

/** A link, and when its row is written. */
type Row = { link: LinkView; now: Date };

const formOf = ({ checkoutUrl, tokenOf }: Deps, handle: string) =>
  csvForm<Row>({
    id: ({ link }) => link.id,
    dateCreated: ({ link }) => link.createdAt.toISOString(),
    status: ({ link, now }) => statusAt(link, now),
    toAmount: ({ link }) => link.toAmount,
    receivedAmount: ({ link }) => link.receivedAmount,
    token: ({ link }) => tokenOf(link.tokenId).shown.symbol,
    tokenId: ({ link }) => link.tokenId,
    chainId: ({ link }) => tokenOf(link.tokenId).shown.chain.id,
    tokenAddress: ({ link }) => tokenOf(link.tokenId).shown.address,
    destinationAddress: ({ link }) => link.destinationAddress,
    currentUsage: ({ link }) => String(link.currentUsage),
    maxUsage: ({ link }) => (link.maxUsage === null ? null : String(link.maxUsage)),
    expirationDate: ({ link }) => link.expiresAt?.toISOString() ?? null,
    lastPaymentId: ({ link }) => link.lastTransactionId,
    description: ({ link }) => link.description,
    url: ({ link }) => checkoutPageUrl(checkoutUrl, handle, link.id),
  });

type Source = {
  wanted: Omit<WantedLinks, "now">;
  /** Where it begins; undefined where there is no link. */
  start: LinkPlace | undefined;
  readPart: ReadPart<Pool>;
  header: string;
  lineOf: (row: Row) => string;
};

/** Few enough that writing them keeps nobody else waiting. */
const linksAtOnce = 250;

async function* chunksOf({ clock }: Deps, { header, lineOf, readPart, start, wanted }: Source) {
  yield header;
  // The loop ends, as each part holds only links older than those before.
  for (let before = start; before !== undefined;) {
    const page = { ...wanted, before, limit: linksAtOnce, offset: 0 };
    const { next, text } = await readPart(async (db) => {
      // An export may take an hour, in which links expire.
      const now = clock.now();
      const { lastLookedAt, links } = await searchLinks(db, { ...page, now });
      const { rows, text } = writePart(links, (link) => lineOf({ link, now }));
      const hasMore = rows.length < links.length || links.length === linksAtOnce;
      const linkId = hasMore ? rows.at(-1)?.id : lastLookedAt;
      if (linkId === undefined) return { next: undefined, text };
      return { next: await findLinkPlace(db, { linkId, userId: wanted.userId }), text };
    });
    if (text !== "") yield text;
    before = next;
  }
}
