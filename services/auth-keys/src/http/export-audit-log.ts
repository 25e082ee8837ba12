import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Request, Response } from "express";
import { AuditExportQuery, auditExportMax, refuse } from "@payment-links/contracts";
import { readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showAuditRecord } from "../domain/audit.ts";
import { auditCsvHeader, auditCsvLine } from "../domain/audit-csv.ts";
import { type WantedAudit, countAudit, readAuditBatch } from "../store/audit-log.ts";

const csv = { type: "text/csv; charset=utf-8; header=present", header: auditCsvHeader };
const jsonl = { type: "application/jsonl; charset=utf-8", header: "" };

/**
 * GET /console/api/audit-log/export: what was done to the person's own account, newest first, as a
 * file. It is read and sent in batches: a slow reader holds one of them, and no connection to the
 * database.
 */
export const exportAuditLog =
  ({ pool }: Deps) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { format = "csv", ...filter } = readQuery(req, AuditExportQuery);
    const wanted = { accountId: caller.account.id, filter };
    const count = await countAudit(pool, wanted, auditExportMax + 1);
    // Cut off in silence, it would look whole.
    if (count > auditExportMax) throw refuse("AUDIT_LOG_TOO_LONG");
    const { type, header } = format === "csv" ? csv : jsonl;
    res.setHeader("Content-Type", type);
    res.setHeader("Content-Disposition", `attachment; filename="audit-log.${format}"`);
    if (req.method === "HEAD") {
      res.end();
      return;
    }
    const lineOf = format === "csv" ? auditCsvLine : jsonLine;
    try {
      await pipeline(Readable.from(chunksOf(pool, wanted, { header, lineOf })), res);
    } catch (error) {
      if (!isReaderGone(error)) throw error;
    }
  };

const jsonLine = (entry: object): string => `${JSON.stringify(entry)}\n`;

type Form = { header: string; lineOf: typeof auditCsvLine };

async function* chunksOf(pool: Deps["pool"], wanted: WantedAudit, { header, lineOf }: Form) {
  if (header !== "") yield header;
  // The loop ends, as each batch holds only entries before the last one.
  for (let beforeSeq: string | undefined; ;) {
    const batch = await readAuditBatch(pool, { ...wanted, beforeSeq });
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch.map((record) => lineOf(showAuditRecord(record))).join("");
    beforeSeq = last.seq;
  }
}

const isReaderGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
