import type { Request, Response } from "express";
import * as z from "zod";
import { integer, parameter } from "@payment-links/contracts";
import { sendJson, parseQuery } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { listAllAudit as findAllAudit } from "../store/audit-log.ts";

const rowsMax = 100;

const AuditAfterQuery = z.object({
  afterSeq: parameter(integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
});

/**
 * GET /internal/audit-log: lists all accounts' entries for operators, oldest first, 100 per page,
 * including the names of operators.
 */
export const listAllAudit =
  ({ pool }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { afterSeq = 0 } = parseQuery(req, AuditAfterQuery);
    const records = await findAllAudit(pool, { afterSeq: String(afterSeq), rowsMax });
    const nextAfterSeq = records.length === rowsMax ? (records.at(-1)?.seq ?? null) : null;
    sendJson(res, 200, { data: records, nextAfterSeq });
  };
