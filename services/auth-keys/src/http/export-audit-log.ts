import type { Request, Response } from "express";
import {
  type AuditEntry,
  AuditExportQuery,
  auditExportMax,
  refuse,
} from "@payment-links/contracts";
import { type ReadPart, csvForm, readQuery, writePart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { showAuditRecord } from "../domain/audit.ts";
import { type WantedAudit, countAudit, readAuditBatch } from "../store/audit-log.ts";

const csv = csvForm<AuditEntry>({
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

const jsonl = {
  type: "application/jsonl; charset=utf-8",
  header: "",
  lineOf: (entry: AuditEntry): string => `${JSON.stringify(entry)}\n`,
};

/**
 * GET /console/api/audit-log/export: what was done to the person's own account, newest first, as a
 * file (rules CALLER-23 and CALLER-35).
 */
export const exportAuditLog =
  ({ exports }: Deps) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { format = "csv", ...filter } = readQuery(req, AuditExportQuery);
    const wanted = { accountId: caller.account.id, filter };
    const form = format === "csv" ? csv : jsonl;
    await exports.send(req, res, wanted.accountId, async (readPart) => {
      const count = await readPart((db) => countAudit(db, wanted, auditExportMax + 1));
      // Cut off in silence, it would look whole.
      if (count > auditExportMax) throw refuse("AUDIT_LOG_TOO_LONG");
      const chunks = () => chunksOf(readPart, wanted, form);
      return { name: `audit-log.${format}`, type: form.type, chunks };
    });
  };

type Form = Pick<typeof csv, "header" | "lineOf">;

async function* chunksOf(readPart: ReadPart<Pool>, wanted: WantedAudit, { header, lineOf }: Form) {
  if (header !== "") yield header;
  // The loop ends, as each part holds only entries before the last one.
  for (let beforeSeq: string | undefined; ;) {
    const { rows, text } = await readPart(async (db) => {
      const records = await readAuditBatch(db, { ...wanted, beforeSeq });
      return writePart(records, (record) => lineOf(showAuditRecord(record)));
    });
    if (rows.length === 0) return;
    yield text;
    beforeSeq = rows.at(-1)?.seq;
  }
}
