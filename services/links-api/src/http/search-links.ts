import type { Request, Response } from "express";
import { OwnLinksQuery, pageSize, refuse } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { readSearch } from "../domain/link-search.ts";
import { readyAccount } from "../domain/link.ts";
import {
  type FoundLinks,
  type LinkPlace,
  type WantedLinks,
  findLinkPlace,
  searchLinks,
} from "../store/link-search.ts";
import { showListedLink } from "./show-link.ts";

/** GET /console/api/payment-links: all links of the owner, or those looked for (rule CALLER-24). */
export const searchOwnLinks =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const query = readQuery(req, OwnLinksQuery);
    const { handle } = readyAccount(account, deps.catalogue);
    const { before, offset = 0, q, token: tokenId, ...filter } = query;
    const now = deps.clock.now();
    const wanted = {
      ...filter,
      userId: account.id,
      now,
      tokenId,
      search: q === undefined ? undefined : readSearch(q),
      before: before === undefined ? undefined : await placeOf(deps, before, account.id),
    };
    const { lastLookedAt, links } = await findPage(deps, res, { ...wanted, offset });
    const page = showPage(links, offset, (link) => showListedLink(deps, link, { handle, now }));
    const lastShown = page.nextOffset === null ? undefined : page.data.at(-1)?.id;
    answerJson(res, 200, { ...page, nextBefore: lastShown ?? lastLookedAt ?? null });
  };

const placeOf = async ({ pool }: Deps, linkId: string, userId: string): Promise<LinkPlace> => {
  const place = await findLinkPlace(pool, { linkId, userId });
  if (place === undefined) throw refuse("NOT_FOUND");
  return place;
};

/** One more than is shown tells whether anything follows. */
const limit = pageSize + 1;

/** Without a filter but the status, whole lists are found in their own indexes, however far down. */
const findPage = async (
  deps: Deps,
  res: Response,
  wanted: WantedLinks & { offset: number },
): Promise<FoundLinks> => {
  const { before, from, now, offset, search, status, to, tokenId, userId } = wanted;
  const isSearch = [before, from, search, to, tokenId].some((value) => value !== undefined);
  if (isSearch) return searchLinks(deps.pool, { ...wanted, limit });
  const filter = { userId, status: status ?? null, now, offset, limit };
  const links = await deps.deepPages.read(res, { accountId: userId, offset }, () =>
    deps.listLinks(deps.pool, filter),
  );
  return { links, lastLookedAt: undefined };
};
