import type { Request, Response } from "express";
import * as z from "zod";
import { integer, parameter } from "@payment-links/contracts";
import { answerJson, readQuery } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { listAllAudit as readAll } from "../store/audit-log.ts";

const rowsMax = 100;

const AuditAfterQuery = z.object({
  afterSeq: parameter(integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
});

/**
 * GET /internal/audit-log: an operator reads the log of all accounts, the oldest first, a hundred at a
 * time, with the operators' names.
 */
export const listAllAudit =
  ({ pool }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { afterSeq = 0 } = readQuery(req, AuditAfterQuery);
    const records = await readAll(pool, { afterSeq: String(afterSeq), rowsMax });
    const nextAfterSeq = records.length === rowsMax ? (records.at(-1)?.seq ?? null) : null;
    answerJson(res, 200, { data: records, nextAfterSeq });
  };
