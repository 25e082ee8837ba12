import type { Request, Response } from "express";
import { PageQuery, pageSize } from "@payment-links/contracts";
import { readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showAuditRecord } from "../domain/audit.ts";
import { listAudit } from "../store/audit-log.ts";
import { answerJson } from "./answer-json.ts";

/**
 * GET /console/api/audit-log: what was done to the person's own account, newest first, ten per
 * page.
 */
export const listAuditLog =
  ({ pool }: Deps) =>
  async (req: Request, res: Response, caller: Caller) => {
    const offset = readQuery(req, PageQuery).offset ?? 0;
    const { records, hasMore } = await listAudit(pool, { accountId: caller.account.id, offset });
    answerJson(res, 200, {
      data: records.map(showAuditRecord),
      limit: pageSize,
      offset,
      nextOffset: hasMore ? offset + pageSize : null,
    });
  };
