import type { Request, Response } from "express";
import { OwnLinksFilter, buildCheckoutPageUrl } from "@payment-links/contracts";
import { type ReadPart, createCsvFormatter, parseQuery, formatPart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { parseSearch } from "../domain/link-search.ts";
import type { LinkView } from "../domain/link-view.ts";
import { statusAt } from "../domain/link.ts";
import {
  type LinkCursor,
  type LinkQuery,
  countMatchingLinks,
  findLinkCursor,
  searchLinks,
} from "../store/link-search.ts";

/**
 * GET /console/api/payment-links.csv: exports the owner's links, optionally filtered (rule
 * CALLER-27).
 */
export const exportLinks =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { mode = "live", q, token: tokenId, ...filter } = parseQuery(req, OwnLinksFilter);
    const search = q === undefined ? undefined : parseSearch(q);
    const query = { ...filter, search, tokenId, mode, userId: account.id };
    await dependencies.exports.send(req, res, account.id, async (readPart) => {
      const { count, start } = await readPart((db) =>
        countMatchingLinks(db, { ...query, now: dependencies.clock.now() }),
      );
      if (count !== undefined) res.setHeader("X-Total-Count", count);
      const { header, formatRow, type } = createCsvFormat(dependencies, account.handle ?? "");
      const chunks = () =>
        streamChunks(dependencies, { query, start, readPart, header, formatRow });
      return { name: "payment-links.csv", type, chunks };
    });
  };

/** A link, and the time that determines its status in the export. */
type CsvRow = { link: LinkView; now: Date };

const createCsvFormat = ({ checkoutUrl, getToken }: Dependencies, handle: string) =>
  createCsvFormatter<CsvRow>({
    id: ({ link }) => link.id,
    dateCreated: ({ link }) => link.createdAt.toISOString(),
    status: ({ link, now }) => statusAt(link, now),
    toAmount: ({ link }) => link.toAmount,
    receivedAmount: ({ link }) => link.receivedAmount,
    token: ({ link }) => getToken(link.tokenId).tokenData.symbol,
    tokenId: ({ link }) => link.tokenId,
    chainId: ({ link }) => getToken(link.tokenId).tokenData.chain.id,
    tokenAddress: ({ link }) => getToken(link.tokenId).tokenData.address,
    destinationAddress: ({ link }) => link.destinationAddress,
    currentUsage: ({ link }) => String(link.currentUsage),
    maxUsage: ({ link }) => (link.maxUsage === null ? null : String(link.maxUsage)),
    expirationDate: ({ link }) => link.expiresAt?.toISOString() ?? null,
    lastPaymentId: ({ link }) => link.lastTransactionId,
    description: ({ link }) => link.description,
    url: ({ link }) => buildCheckoutPageUrl(checkoutUrl, handle, link.id),
  });

type ExportSource = {
  query: Omit<LinkQuery, "now">;
  /** The position at which the export starts. Undefined if there are no links. */
  start: LinkCursor | undefined;
  readPart: ReadPart<Pool>;
  header: string;
  formatRow: (row: CsvRow) => string;
};

/** A chunk of this size is formatted quickly enough not to delay other requests. */
const linksPerChunk = 250;

async function* streamChunks(
  { clock }: Dependencies,
  { header, formatRow, readPart, start, query }: ExportSource,
) {
  yield header;
  // The loop terminates, because each part contains only links that are older than the previous
  // part.
  for (let before = start; before !== undefined;) {
    const page = { ...query, before, limit: linksPerChunk, offset: 0 };
    const { nextCursor, text } = await readPart(async (db) => {
      // The time is read for each part, because an export can take an hour and links can expire
      // during it.
      const now = clock.now();
      const { lastScannedId, links } = await searchLinks(db, { ...page, now });
      const { rows, text } = formatPart(links, (link) => formatRow({ link, now }));
      const hasMore = rows.length < links.length || links.length === linksPerChunk;
      const linkId = hasMore ? rows.at(-1)?.id : lastScannedId;
      if (linkId === undefined) return { nextCursor: undefined, text };
      return { nextCursor: await findLinkCursor(db, { ...query, linkId }), text };
    });
    if (text !== "") yield text;
    before = nextCursor;
  }
}
