import type { Request, Response } from "express";
import {
  type AuditEntry,
  AuditExportQuery,
  auditExportMax,
  createApiError,
} from "@payment-links/contracts";
import { type ReadPart, createCsvFormatter, parseQuery, formatPart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeAuditRecord } from "../domain/audit.ts";
import { type AuditSelection, countAudit, readAuditBatch } from "../store/audit-log.ts";

const csvFormat = createCsvFormatter<AuditEntry>({
  id: ({ id }) => id,
  dateCreated: ({ dateCreated }) => dateCreated,
  action: ({ action }) => action,
  actorKind: ({ actor }) => actor.kind,
  actorId: ({ actor }) => actor.id,
  method: ({ method }) => method,
  targetId: ({ targetId }) => targetId,
  address: ({ address }) => address,
  userAgent: ({ userAgent }) => userAgent,
  detail: ({ detail }) => JSON.stringify(detail),
});

const jsonlFormat = {
  type: "application/jsonl; charset=utf-8",
  header: "",
  formatRow: (entry: AuditEntry): string => `${JSON.stringify(entry)}\n`,
};

/**
 * GET /console/api/audit-log/export: exports the account's own audit log as a file, newest first
 * (rules CALLER-23 and CALLER-35).
 */
export const exportAuditLog =
  ({ exports }: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { format = "csv", ...filter } = parseQuery(req, AuditExportQuery);
    const auditQuery = { accountId: caller.account.id, filter };
    const exportFormat = format === "csv" ? csvFormat : jsonlFormat;
    await exports.send(req, res, auditQuery.accountId, async (readPart) => {
      const count = await readPart((db) => countAudit(db, auditQuery, auditExportMax + 1));
      // A silently truncated file would look complete.
      if (count > auditExportMax) throw createApiError("AUDIT_LOG_TOO_LONG");
      const chunks = () => streamChunks(readPart, auditQuery, exportFormat);
      return { name: `audit-log.${format}`, type: exportFormat.type, chunks };
    });
  };

type ExportFormat = Pick<typeof csvFormat, "header" | "formatRow">;

async function* streamChunks(
  readPart: ReadPart<Pool>,
  auditQuery: AuditSelection,
  { header, formatRow }: ExportFormat,
) {
  if (header !== "") yield header;
  // The loop ends, because each part contains only entries older than the previous part.
  for (let beforeSeq: string | undefined; ;) {
    const { rows, text } = await readPart(async (db) => {
      const records = await readAuditBatch(db, { ...auditQuery, beforeSeq });
      return formatPart(records, (record) => formatRow(serializeAuditRecord(record)));
    });
    if (rows.length === 0) return;
    yield text;
    beforeSeq = rows.at(-1)?.seq;
  }
}
