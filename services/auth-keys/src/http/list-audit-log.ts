import type { Request, Response } from "express";
import { AuditQuery } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeAuditRecord } from "../domain/audit.ts";
import { listAudit } from "../store/audit-log.ts";

/**
 * GET /console/api/audit-log: lists the account's own entries, newest first, ten per page,
 * optionally filtered.
 */
export const listAuditLog =
  ({ deepPages, pool }: Dependencies) =>
  async (req: Request, res: Response, caller: Caller) => {
    const { offset = 0, ...filter } = parseQuery(req, AuditQuery);
    const accountId = caller.account.id;
    const records = await deepPages.read(res, { accountId, offset }, () =>
      listAudit(pool, { accountId, filter, offset }),
    );
    sendJson(res, 200, serializePage(records, offset, serializeAuditRecord));
  };
