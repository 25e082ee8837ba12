import type { Request, Response } from "express";
import { ListLinksQuery, pageSize } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { requirePayableAccount } from "../domain/link.ts";
import { serializeListedLink } from "./serialize-link.ts";

/**
 * GET /v1/payment-link: lists the links of the API key's owner in the key's
 * mode, newest first.
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
    const links = await dependencies.deepPages.read(res, { accountId: account.id, offset }, () =>
      dependencies.listLinks(dependencies.pool, filter),
    );
    sendJson(
      res,
      200,
      serializePage(links, offset, (link) =>
        serializeListedLink(dependencies, link, { handle, now }),
      ),
    );
  };
