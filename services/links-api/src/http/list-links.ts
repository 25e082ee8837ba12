import type { Request, Response } from "express";
import { ListLinksQuery, pageSize } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { requirePayableAccount } from "../domain/link.ts";
import { listUpdatedLinks, updateOverlapMs } from "../store/updated-links.ts";
import { serializeListedLink } from "./serialize-link.ts";

/**
 * GET /v1/payment-link: lists the links of the API key's owner in the key's mode, newest first.
 * With `updatedAfter`, lists those that changed since then (rule API-44).
 */
export const listOwnLinks =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const query = parseQuery(req, ListLinksQuery);
    const { mode = "live" } = credential;
    const { handle } = requirePayableAccount(account, dependencies.catalogue, mode);
    const now = dependencies.clock.now();
    const offset = query.offset ?? 0;
    const filter = {
      userId: account.id,
      mode,
      status: query.status ?? null,
      now,
      offset,
      // Reads one link more than a page contains, to find out whether there is another page.
      limit: pageSize + 1,
    };
    const { updatedAfter } = query;
    // The index of changes has no status, so the query reads changed links until enough have it.
    const isScan = updatedAfter !== undefined && query.status !== undefined;
    const pageRequest = { accountId: account.id, offset, isScan };
    const links = await dependencies.deepPages.read(res, pageRequest, () =>
      updatedAfter === undefined
        ? dependencies.listLinks(dependencies.pool, filter)
        : listUpdatedLinks(dependencies.pool, { ...filter, updatedAfter }),
    );
    const page = serializePage(links, offset, (link) =>
      serializeListedLink(dependencies, link, { handle, now }),
    );
    const isFirstPage = updatedAfter !== undefined && offset === 0;
    // Only the first page has it: changes during a later page may belong to an earlier one.
    const nextUpdatedAfter = new Date(now.getTime() - updateOverlapMs).toISOString();
    sendJson(res, 200, isFirstPage ? { ...page, nextUpdatedAfter } : page);
  };
