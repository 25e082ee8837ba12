import type { Request, Response } from "express";
import { ListLinksQuery, pageSize } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { readyAccount } from "../domain/link.ts";
import { showListedLink } from "./show-link.ts";

/** GET /v1/payment-link: the links of the key's owner, newest first. */
export const listOwnLinks =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const query = readQuery(req, ListLinksQuery);
    const { handle } = readyAccount(account, deps.catalogue);
    const now = deps.clock.now();
    const offset = query.offset ?? 0;
    const filter = {
      userId: account.id,
      status: query.status ?? null,
      now,
      offset,
      // One more than is shown tells whether anything follows.
      limit: pageSize + 1,
    };
    const links = await deps.deepPages.read(res, { accountId: account.id, offset }, () =>
      deps.listLinks(deps.pool, filter),
    );
    answerJson(
      res,
      200,
      showPage(links, offset, (link) => showListedLink(deps, link, { handle, now })),
    );
  };
