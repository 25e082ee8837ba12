import type { Request, Response } from "express";
import { PageQuery } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showAuditRecord } from "../domain/audit.ts";
import { listAudit } from "../store/audit-log.ts";

/**
 * GET /console/api/audit-log: what was done to the person's own account, newest first, ten per
 * page.
 */
export const listAuditLog =
  ({ pool }: Deps) =>
  async (req: Request, res: Response, caller: Caller) => {
    const offset = readQuery(req, PageQuery).offset ?? 0;
    const records = await listAudit(pool, { accountId: caller.account.id, offset });
    answerJson(res, 200, showPage(records, offset, showAuditRecord));
  };
