import type { Request, Response } from "express";
import { OwnLinksFilter, checkoutPageUrl } from "@payment-links/contracts";
import { type ReadPart, answerFile, csvForm, readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
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
    await deps.exports.make(res, account.id, async (readPart) => {
      const { count, start } = await readPart(() =>
        countWantedLinks(deps.pool, { ...wanted, now: deps.clock.now() }),
      );
      if (count !== undefined) res.setHeader("X-Total-Count", count);
      const { header, lineOf, type } = formOf(deps, account.handle ?? "");
      const chunks = () => chunksOf(deps, { wanted, start, readPart, header, lineOf });
      return answerFile(req, res, { name: "payment-links.csv", type, chunks });
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
  readPart: ReadPart;
  header: string;
  lineOf: (row: Row) => string;
};

/** Few enough that writing them keeps nobody else waiting. */
const linksAtOnce = 250;

async function* chunksOf(
  { clock, pool }: Deps,
  { header, lineOf, readPart, start, wanted }: Source,
) {
  yield header;
  // The loop ends, as each part holds only links older than those before.
  for (let before = start; before !== undefined;) {
    const page = { ...wanted, before, limit: linksAtOnce, offset: 0 };
    const { next, text } = await readPart(async () => {
      // An export may take an hour, in which links expire.
      const now = clock.now();
      const { lastLookedAt, links } = await searchLinks(pool, { ...page, now });
      const linkId = links.length === linksAtOnce ? links.at(-1)?.id : lastLookedAt;
      const text = links.map((link) => lineOf({ link, now })).join("");
      if (linkId === undefined) return { next: undefined, text };
      return { next: await findLinkPlace(pool, { linkId, userId: wanted.userId }), text };
    });
    if (text !== "") yield text;
    before = next;
  }
}
