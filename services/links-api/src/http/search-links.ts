import type { Request, Response } from "express";
import {
  OwnLinksQuery,
  type OwnPaymentLinkData,
  pageSize,
  createApiError,
} from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { parseSearch } from "../domain/link-search.ts";
import { getInactiveReason, requirePayableAccount } from "../domain/link.ts";
import {
  type LinkSearchResult,
  type LinkCursor,
  type LinkQuery,
  findLinkCursor,
  searchLinks,
} from "../store/link-search.ts";
import { serializeListedLink } from "./serialize-link.ts";

/**
 * GET /console/api/payment-links: lists all of the owner's links of a mode, or those that match a
 * search (rule CALLER-24).
 */
export const searchOwnLinks =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const query = parseQuery(req, OwnLinksQuery);
    const { before, mode = "live", offset = 0, q, token: tokenId, ...filter } = query;
    const { handle } = requirePayableAccount(account, dependencies.catalogue, mode);
    const now = dependencies.clock.now();
    const linkQuery = {
      ...filter,
      userId: account.id,
      mode,
      now,
      tokenId,
      search: q === undefined ? undefined : parseSearch(q),
      before:
        before === undefined
          ? undefined
          : await requireLinkCursor(dependencies, { linkId: before, userId: account.id, mode }),
    };
    const { lastScannedId, links } = await findPage(dependencies, res, { ...linkQuery, offset });
    const page = serializePage(links, offset, (link): OwnPaymentLinkData => ({
      ...serializeListedLink(dependencies, link, { handle, now }),
      inactiveReason: getInactiveReason(link, now),
      mode: link.mode,
    }));
    const lastReturnedId = page.nextOffset === null ? undefined : page.data.at(-1)?.id;
    sendJson(res, 200, { ...page, nextBefore: lastReturnedId ?? lastScannedId ?? null });
  };

const requireLinkCursor = async (
  { pool }: Dependencies,
  link: Parameters<typeof findLinkCursor>[1],
): Promise<LinkCursor> => {
  const cursor = await findLinkCursor(pool, link);
  if (cursor === undefined) throw createApiError("NOT_FOUND");
  return cursor;
};

/** Reads one link more than a page contains, to find out whether there is another page. */
const limit = pageSize + 1;

/**
 * Finds a page of links. If only the status is filtered, this is a list with its own index, which
 * is fast at any offset. Otherwise it is a search.
 */
const findPage = async (
  dependencies: Dependencies,
  res: Response,
  linkQuery: LinkQuery & { offset: number },
): Promise<LinkSearchResult> => {
  const { before, from, inactiveReason, mode, now, offset, search, status, to, tokenId, userId } =
    linkQuery;
  const isSearch = [before, from, inactiveReason, search, to, tokenId].some(
    (value) => value !== undefined,
  );
  if (isSearch) return searchLinks(dependencies.pool, { ...linkQuery, limit });
  const filter = { userId, mode, status: status ?? null, now, offset, limit };
  const links = await dependencies.deepPages.read(res, { accountId: userId, offset }, () =>
    dependencies.listLinks(dependencies.pool, filter),
  );
  return { links, lastScannedId: undefined };
};
