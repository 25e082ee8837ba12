import type { Request, Response } from "express";
import { AuditQuery } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showAuditRecord } from "../domain/audit.ts";
import { listAudit } from "../store/audit-log.ts";

/**
 * GET /console/api/audit-log: what was done to the person's own account, newest first, ten per
 * page, or only some of it.
 */
export const listAuditLog =
  ({ deepPages, pool }: Deps) =>
  async (req: Request, res: Response, caller: Caller) => {
    const { offset = 0, ...filter } = readQuery(req, AuditQuery);
    const accountId = caller.account.id;
    const records = await deepPages.read(res, { accountId, offset }, () =>
      listAudit(pool, { accountId, filter, offset }),
    );
    answerJson(res, 200, showPage(records, offset, showAuditRecord));
  };
